// Everything that learns of a refusal: the seccomp listener, the network table's log and the stub
// resolver, and the log that they write.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "agent/denial_log.h"
#include "agent/name_server.h"
#include "agent/syscall_watch.h"
#include "base/result.h"
#include "sys/epoll.h"
#include "sys/fd.h"
#include "wire/agent.pb.h"

namespace paddock::agent {

// Owns the sources. Its events carry `token` plus a small number. Lives in the agent's loop, which
// a flood of refusals must not occupy: each call does a bounded amount of work.
class Refusals {
 public:
  Refusals(sys::Epoll& epoll, uint64_t token) : epoll_(epoll), token_(token) {}

  void set_limit(uint64_t records) { log_.set_limit(records); }
  // Loopback, resolver, table and route; needs the capabilities that confine() gives up. `egress`
  // is what the table redirects. Fills the network's fields of the evidence. On a failure there is
  // no route to anywhere, so that sends fail at once with ENETUNREACH; what they were for is not
  // reported then.
  void prepare_network(const wire::Egress& egress, wire::Evidence& evidence);
  // Takes over the listener. After confine().
  Status watch_syscalls(sys::Fd listener, const wire::Setup& setup);

  void on_event(uint32_t which);
  // Takes what has happened so far, in the order of a command's life before its end.
  void drain();

  // The resolver; none where the network could not be prepared.
  NameServer* names() { return names_ ? &*names_ : nullptr; }
  DenialLog& log() { return log_; }

  bool has_news() const { return log_.has_news(); }
  void report(wire::AgentChannel& channel) { log_.report(channel); }

 private:
  static constexpr uint32_t kSyscalls = 0;
  static constexpr uint32_t kPackets = 1;
  static constexpr uint32_t kNames = 2;  // and beyond

  Status build_network(const wire::Egress& egress, wire::Evidence& evidence);
  void drain_packets(int messages);

  sys::Epoll& epoll_;
  uint64_t token_;
  DenialLog log_;
  std::unique_ptr<SyscallWatch> syscalls_;
  std::optional<NameServer> names_;
  sys::SocketFd packets_;
};

}  // namespace paddock::agent
