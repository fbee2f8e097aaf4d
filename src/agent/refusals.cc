#include "agent/refusals.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "agent/network_table.h"
#include "agent/packet_log.h"

namespace paddock::agent {
namespace {

constexpr int kMessagesAtATime = 128;
// More than the socket's buffer holds.
constexpr int kAllMessages = 1 << 14;

}  // namespace

void Refusals::prepare_network(const wire::Egress& egress, wire::Evidence& evidence) {
  Status built = build_network(egress, evidence);
  if (!built.ok()) evidence.set_network_error(built.error().describe());
}

Status Refusals::build_network(const wire::Egress& egress, wire::Evidence& evidence) {
  PD_TRY(bring_loopback_up());
  names_ = PD_TRY(NameServer::open());
  PD_TRY(names_->watch(epoll_, token_ + kNames));
  packets_ = PD_TRY(install_network_table(egress));
  PD_TRY(epoll_.add(packets_, EPOLLIN, token_ + kPackets));
  evidence.set_network_table(true);
  return route_everything_to_loopback();
}

Status Refusals::watch_syscalls(sys::Fd listener, const wire::Setup& setup) {
  syscalls_ = PD_TRY(SyscallWatch::start(std::move(listener), setup.reported_syscalls()));
  return epoll_.add(syscalls_->event(), EPOLLIN, token_ + kSyscalls);
}

void Refusals::on_event(uint32_t which) {
  if (which == kSyscalls) {
    syscalls_->drain(log_);
  } else if (which == kPackets) {
    drain_packets(kMessagesAtATime);
  } else if (names_) {
    names_->on_event(epoll_, token_ + kNames, which - kNames, log_);
  }
}

void Refusals::drain() {
  if (syscalls_) syscalls_->drain(log_);
  if (names_) names_->drain_datagrams(log_);
  drain_packets(kAllMessages);
}

void Refusals::drain_packets(int messages) {
  std::array<char, 4096> buffer;
  for (int i = 0; packets_.is_open() && i < messages; ++i) {
    const ssize_t n = ::recv(packets_.get(), buffer.data(), buffer.size(), 0);
    if (n < 0 && errno == ENOBUFS) {
      log_.note_lost(1);  // at least
      continue;
    }
    if (n <= 0) return;
    for (const std::string& what : parse_packet_log({buffer.data(), static_cast<size_t>(n)})) {
      log_.note({.kind = wire::Denied::NETWORK, .what = what}, 1);
    }
  }
}

}  // namespace paddock::agent
