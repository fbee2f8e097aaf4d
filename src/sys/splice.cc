#include "sys/splice.h"

#include <fcntl.h>

#include <cerrno>

namespace paddock::sys {

Result<std::optional<size_t>> splice_bytes(int from, int to, size_t size) {
  while (true) {
    const ssize_t count =
        ::splice(from, nullptr, to, nullptr, size, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (count >= 0) return std::optional(static_cast<size_t>(count));
    if (errno == EAGAIN) return std::optional<size_t>();
    if (errno != EINTR) return Error::from_errno(errno, "moving bytes of a connection");
  }
}

}  // namespace paddock::sys
