// Runs code in a forked child, for tests of what cannot be undone in a process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace paddock::sys::testing {

// The exit status of the child, which is what `body` returns (0 to 255); 128 + n on signal n.
template <typename Body>
int in_child(Body body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace paddock::sys::testing
