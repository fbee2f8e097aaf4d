// paddock-agent: the first process of every sandbox.
//
//   paddock-agent --stream-fd N   serves the host over the inherited descriptor N (a stream socket)
//   /init, without arguments, as process 1 of a guest with a kernel of its own: boots the guest and
//                                 serves the host over its virtio-serial port
//   paddock-agent --version       prints the build id
//   paddock-agent files …         a file operation, as a command inside (wire/files.proto)
#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string_view>

#include "agent/agent.h"
#include "agent/files/files.h"
#include "agent/guest_boot.h"
#include "base/strings.h"
#include "wire/build_id.h"

namespace paddock::agent {
namespace {

constexpr int kCouldNotServe = 125;

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

Result<sys::Fd> find_stream(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--stream-fd") {
    const auto number = parse_u64(argv[2]);
    if (!number || *number > 1u << 20 ||
        ::fcntl(static_cast<int>(*number), F_SETFD, FD_CLOEXEC) != 0) {
      return Error(Code::invalid_argument, "--stream-fd: no such descriptor");
    }
    return sys::Fd(static_cast<int>(*number));
  }
  if (argc == 1 && ::getpid() == 1) return boot_guest();
  return Error(Code::invalid_argument, "usage: paddock-agent --stream-fd N | --version");
}

Status serve(int argc, char** argv) {
  sys::Fd stream = PD_TRY(find_stream(argc, argv));
  std::unique_ptr<Agent> agent = PD_TRY(Agent::make(std::move(stream)));
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
  if (argc > 1 && std::string_view(argv[1]) == "files") {
    return agent::files::run({argv + 2, argv + argc});
  }
  const Status served = agent::serve(argc, argv);
  std::fprintf(stderr, "paddock-agent: %s\n", served.error().describe().c_str());
  ::_exit(agent::kCouldNotServe);
}
