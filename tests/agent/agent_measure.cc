// Prints what the agent costs, as medians over fresh sandboxes. Not a test: asserts nothing.
//
//   build/bin/agent_measure [sandboxes]
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "namespace_agent.h"
#include "wire/testing/agent_client.h"

namespace paddock::agent::testing {
namespace {

double now_us() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

class Series {
 public:
  explicit Series(const char* name) : name_(name) {}
  void add(double value) { values_.push_back(value); }
  ~Series() {
    if (values_.empty()) return;
    std::ranges::sort(values_);
    std::printf("%-44s median %8.0f  p10 %8.0f  p90 %8.0f\n", name_, values_[values_.size() / 2],
                values_[values_.size() / 10], values_[values_.size() * 9 / 10]);
  }

 private:
  const char* name_;
  std::vector<double> values_;
};

int measure(int sandboxes) {
  void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* exec_ns = static_cast<int64_t*>(page);
  Series hello("exec to Hello, us");
  Series bare("Setup to Evidence, neither table nor filter, us");
  Series whole("Setup to Evidence, table, filter, listener, us");
  Series first("first command (/bin/true), us");
  Series next("further commands (/bin/true), us");
  Series memory("private memory of the agent, KiB");
  for (int i = 0; i < sandboxes; ++i) {
    auto agent = start_in_namespaces(Mapping::single_id, exec_ns);
    if (!agent.ok()) {
      std::printf("%s\n", agent.error().describe().c_str());
      return 1;
    }
    wire::testing::AgentClient client((*agent)->stream());
    if (!client.hello().ok()) return 1;
    hello.add(now_us() - static_cast<double>(*exec_ns) / 1e3);
    wire::Setup setup = setup_in_namespaces(Mapping::single_id);
    if (i % 2 == 0) {
      add_test_filter(setup);
    } else {
      setup.set_network_table(false);
    }
    double start = now_us();
    auto evidence = client.setup(setup);
    (i % 2 == 0 ? whole : bare).add(now_us() - start);
    if (!evidence.ok()) return 1;
    memory.add(static_cast<double>(evidence->agent_private_bytes()) / 1024);
    for (int n = 0; n < 20; ++n) {
      start = now_us();
      if (!client.run({"/bin/true"}).ok()) return 1;
      (n == 0 ? first : next).add(now_us() - start);
    }
  }
  return 0;
}

}  // namespace
}  // namespace paddock::agent::testing

int main(int argc, char** argv) {
  return paddock::agent::testing::measure(argc > 1 ? std::atoi(argv[1]) : 50);
}
