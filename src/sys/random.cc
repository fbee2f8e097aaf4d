#include "sys/random.h"

#include <sys/random.h>

#include <cerrno>
#include <cstdlib>

namespace paddock::sys {

std::string random_bytes(size_t count) {
  std::string bytes(count, '\0');
  size_t filled = 0;
  while (filled < count) {
    ssize_t n = ::getrandom(bytes.data() + filled, count - filled, 0);
    if (n < 0 && errno != EINTR) std::abort();
    if (n > 0) filled += static_cast<size_t>(n);
  }
  return bytes;
}

}  // namespace paddock::sys
