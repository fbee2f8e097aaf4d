#include "engine/host_sockets.h"

#include <utility>

#include "base/strings.h"
#include "sys/clock.h"
#include "sys/unix_socket.h"

namespace paddock::engine {
namespace {
constexpr size_t kMaxProcess = 64;  // bytes of the sandbox
}

Result<sys::SocketFd> HostSockets::connect(uint32_t number) const {
  if (number >= sockets_.size()) {
    return Error(Code::not_found, "no such socket of the host was given");
  }
  const PlannedSocket& socket = sockets_[number];
  return sys::connect_unix(socket.directory, socket.name, socket.owner);
}

SocketUse HostSockets::begin(uint32_t number, const wire::Asker& asker) const {
  SocketUse use;
  use.event.sandbox = sandbox_;
  use.event.kind = model::EgressEventKind::socket;
  use.event.verdict = model::EgressVerdict::allowed;
  if (number < sockets_.size()) use.event.host = printable(sockets_[number].path.str());
  use.event.protocol = "unix";
  use.event.rule = "sockets";
  use.event.pid = asker.pid();
  use.event.process = asker.process().substr(0, kMaxProcess);
  use.event.time_ms = sys::wall_clock_ms();
  use.since_us = sys::monotonic_us();
  return use;
}

void HostSockets::finish(SocketUse use) const {
  use.event.duration_us = static_cast<uint64_t>(sys::monotonic_us() - use.since_us);
  if (report_) report_(std::move(use.event));
}

void HostSockets::fail(SocketUse use, const Error& why) const {
  use.event.verdict =
      use.event.host.empty() ? model::EgressVerdict::denied : model::EgressVerdict::failed;
  use.event.reason = why.describe();
  finish(std::move(use));
}

}  // namespace paddock::engine
