// paddock-agent: the first process of every sandbox.
//
//   paddock-agent --stream-fd N [--listen-fd M]
//                                 serves the host over the inherited descriptor N (a stream
//                                 socket); once adopted, also hosts that connect to the listening
//                                 socket M
//   /init, without arguments, as process 1 of a guest with a kernel of its own: boots the guest and
//                                 serves the host over its virtio-serial port
//   paddock-agent --version       prints the build id
//   paddock-agent files …         a file operation, as a command inside (wire/files.proto)
//   sudo …                        under that name: runs a command as somebody else of the sandbox
#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string_view>

#include "agent/agent.h"
#include "agent/files/files.h"
#include "agent/guest_boot.h"
#include "agent/sudo/client.h"
#include "base/strings.h"
#include "wire/build_id.h"

namespace paddock::agent {
namespace {

constexpr int kCouldNotServe = 125;

bool is_named(std::string_view path, std::string_view name) {
  const size_t slash = path.rfind('/');
  return (slash == std::string_view::npos ? path : path.substr(slash + 1)) == name;
}

// Descriptors 0 to 2 must be something, or a pipe of a command becomes one of them.
void fill_standard_descriptors() {
  while (true) {
    const int fd = ::eventfd(0, 0);
    if (fd < 0) return;
    if (fd > STDERR_FILENO) {
      ::close(fd);
      return;
    }
  }
}

Result<int> inherited(const char* option, const char* text) {
  const auto number = parse_u64(text);
  if (!number || *number > 1u << 20 ||
      ::fcntl(static_cast<int>(*number), F_SETFD, FD_CLOEXEC) != 0) {
    return Error(Code::invalid_argument, std::string(option) + ": no such descriptor");
  }
  return static_cast<int>(*number);
}

Result<Agent::Descriptors> find_descriptors(int argc, char** argv) {
  Agent::Descriptors descriptors;
  auto is = [&](int at, std::string_view option) { return argc > at && argv[at] == option; };
  if ((argc == 3 || argc == 5) && is(1, "--stream-fd")) {
    descriptors.stream = sys::Fd(PD_TRY(inherited(argv[1], argv[2])));
    if (argc == 3) return descriptors;
    if (is(3, "--listen-fd")) {
      descriptors.listener = sys::SocketFd(PD_TRY(inherited(argv[3], argv[4])));
      return descriptors;
    }
  }
  if (argc == 1 && ::getpid() == 1) {
    descriptors.stream = PD_TRY(boot_guest());
    return descriptors;
  }
  return Error(Code::invalid_argument,
               "usage: paddock-agent --stream-fd N [--listen-fd M] | --version");
}

Status serve(int argc, char** argv) {
  Agent::Descriptors descriptors = PD_TRY(find_descriptors(argc, argv));
  std::unique_ptr<Agent> agent = PD_TRY(Agent::make(std::move(descriptors)));
  Status served = agent->run();
  // The kernel ends all other processes of the namespace with this one; nothing is left to tidy up.
  if (served.ok()) ::_exit(0);
  return served;
}

}  // namespace
}  // namespace paddock::agent

int main(int argc, char** argv) {
  using namespace paddock;
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::printf("%s\n", std::string(wire::build_id()).c_str());
    return 0;
  }
  agent::fill_standard_descriptors();
  if (argc > 0 && agent::is_named(argv[0], "sudo"))
    return agent::sudo::run_client({argv + 1, argv + argc});
  if (argc > 1 && std::string_view(argv[1]) == "files") {
    return agent::files::run({argv + 2, argv + argc});
  }
  const Status served = agent::serve(argc, argv);
  std::fprintf(stderr, "paddock-agent: %s\n", served.error().describe().c_str());
  ::_exit(agent::kCouldNotServe);
}
