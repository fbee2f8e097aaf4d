#include "sys/inotify.h"

#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace paddock::sys {

Result<Inotify> Inotify::open() {
  const int fd = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (fd >= 0) return Inotify(Fd(fd));
  if (errno != EMFILE) return Error::from_errno(errno, "opening inotify");
  return Error::from_errno(EMFILE, "opening inotify")
      .set_remedy("raise fs.inotify.max_user_instances on the host, or end other watches");
}

Result<int> Inotify::watch(const std::string& path, uint32_t mask) {
  const int watch = ::inotify_add_watch(fd_.get(), path.c_str(), mask);
  if (watch >= 0) return watch;
  Error error = Error::from_errno(errno, "watching " + path);
  if (errno == ENOSPC) error.set_remedy("raise fs.inotify.max_user_watches on the host");
  return error;
}

void Inotify::forget(int watch) {
  ::inotify_rm_watch(fd_.get(), watch);
}

size_t Inotify::queued() const {
  int bytes = 0;
  return ::ioctl(fd_.get(), FIONREAD, &bytes) == 0 && bytes > 0 ? static_cast<size_t>(bytes) : 0;
}

Result<Inotify::Batch> Inotify::read() {
  std::array<char, 16u << 10> buffer;
  const ssize_t count = ::read(fd_.get(), buffer.data(), buffer.size());
  Batch batch;
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return batch;
  if (count < 0) return Error::from_errno(errno, "reading changes");
  batch.taken = static_cast<size_t>(count);
  // The kernel gives whole events only.
  for (size_t at = 0; at + sizeof(inotify_event) <= batch.taken;) {
    inotify_event head;
    std::memcpy(&head, buffer.data() + at, sizeof head);
    const char* name = buffer.data() + at + sizeof head;
    batch.events.push_back(
        {head.wd, head.mask, head.cookie, std::string(name, ::strnlen(name, head.len))});
    at += sizeof head + head.len;
  }
  return batch;
}

}  // namespace paddock::sys
