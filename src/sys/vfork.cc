#include "sys/vfork.h"

#include <unistd.h>

namespace paddock::sys {

pid_t run_in_vfork(void (*body)(void*), void* argument) {
  // SAFETY: the child never returns from here. This function is in a unit of its own so that a
  // caller's compiler must assume that `argument` was written to, which it could rule out of an
  // inlined vfork.
  const pid_t pid = ::vfork();
  if (pid == 0) {
    body(argument);
    ::_exit(0);
  }
  return pid;
}

}  // namespace paddock::sys
