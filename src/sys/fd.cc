#include "sys/fd.h"

#include <unistd.h>

namespace paddock::sys {

void Fd::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

}  // namespace paddock::sys
