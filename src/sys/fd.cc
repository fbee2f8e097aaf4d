#include "sys/fd.h"

#include <sys/resource.h>
#include <unistd.h>

namespace paddock::sys {

void Fd::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void allow_most_descriptors() {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace paddock::sys
