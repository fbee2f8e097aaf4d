// Terminals for other programs: pairs of a master and a slave side.
#pragma once

#include "base/result.h"
#include "sys/fd.h"
#include "sys/terminal.h"

namespace paddock::sys {

struct PtyPair {
  FileFd master;  // non-blocking
  FileFd slave;
};

// A new terminal of the devpts instance behind /dev/ptmx. Needs no path of the slave (TIOCGPTPEER).
Result<PtyPair> open_pty(WindowSize size);

// Tells the processes in the foreground, too (SIGWINCH).
Status resize_pty(const Fd& master, WindowSize size);

// Makes the terminal at standard input the controlling one of a new session. 0 or an errno.
// Async-signal-safe: for use between fork and exec.
int begin_terminal_session();

}  // namespace paddock::sys
