// A child that shares the caller's memory, for the time until it executes a program or ends.
#pragma once

#include <sys/types.h>

namespace paddock::sys {

// Runs `body(argument)` in a child made by vfork(2), while the caller is suspended, and then ends
// the child with status 0 unless the body has executed a program or ended it otherwise. The body
// may write to what `argument` points to, makes only async-signal-safe calls, and must not return
// by exception. Returns the child's pid, to be waited for; -1 with errno when there is none.
pid_t run_in_vfork(void (*body)(void*), void* argument);

}  // namespace paddock::sys
