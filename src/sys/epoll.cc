#include "sys/epoll.h"

#include <cerrno>

namespace paddock::sys {
namespace {

Status control(const Fd& epoll, int operation, const Fd& fd, uint32_t events, uint64_t token) {
  epoll_event event{.events = events, .data = {.u64 = token}};
  if (::epoll_ctl(epoll.get(), operation, fd.get(), &event) != 0) {
    return Error::from_errno(errno, "watching a descriptor");
  }
  return {};
}

}  // namespace

Result<Epoll> Epoll::open() {
  int fd = ::epoll_create1(EPOLL_CLOEXEC);
  if (fd < 0) return Error::from_errno(errno, "opening an epoll instance");
  return Epoll(Fd(fd));
}

Status Epoll::add(const Fd& fd, uint32_t events, uint64_t token) {
  return control(fd_, EPOLL_CTL_ADD, fd, events, token);
}

Status Epoll::modify(const Fd& fd, uint32_t events, uint64_t token) {
  return control(fd_, EPOLL_CTL_MOD, fd, events, token);
}

void Epoll::remove(const Fd& fd) {
  if (fd.is_open()) ::epoll_ctl(fd_.get(), EPOLL_CTL_DEL, fd.get(), nullptr);
}

Result<std::span<epoll_event>> Epoll::wait(std::span<epoll_event> events, int timeout_ms) {
  int count = ::epoll_wait(fd_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  if (count < 0 && errno != EINTR) return Error::from_errno(errno, "waiting for events");
  return events.first(count < 0 ? 0 : static_cast<size_t>(count));
}

}  // namespace paddock::sys
