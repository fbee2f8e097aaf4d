#include "isolation/container/take_over.h"

#include <string>
#include <utility>

#include "sys/files.h"
#include "sys/unix_socket.h"

namespace paddock::isolation::container {
namespace {

// The home inside lies on the scratch tmpfs. No link inside is followed: the way there is the
// sandbox's. Without it nothing is said of a full disk.
sys::Fd find_scratch(const Adoption& adoption) {
  const std::string root = "/proc/" + std::to_string(adoption.pid) + "/root";
  auto directory = sys::open_dir(root);
  if (!directory.ok()) return {};
  auto home = sys::open_dir_at(*directory, adoption.home.str().substr(1));
  return home.ok() ? std::move(*home) : sys::Fd();
}

}  // namespace

Result<Launched> take_over(const Adoption& adoption, const HostFacts& facts) {
  Launched launched;
  sys::Process agent = PD_TRY(sys::Process::adopt(adoption.pid, adoption.pid_start));
  const auto connected = [&]() -> Status {
    const sys::DirFd directory = PD_TRY(sys::open_dir(adoption.state_dir.str()));
    launched.stream = PD_TRY(sys::connect_unix(directory, kAgentSocket));
    return {};
  }();
  if (!connected.ok()) {
    agent.release();
    return connected.error();
  }
  launched.agent = std::move(agent);
  launched.cgroups = SandboxCgroups::adopt(facts.cgroups, adoption.id, adoption.pid);
  launched.scratch = find_scratch(adoption);
  return launched;
}

}  // namespace paddock::isolation::container
