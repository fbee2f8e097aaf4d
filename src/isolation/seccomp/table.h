// Which system calls a sandbox that shares the host's kernel may not make, as data: one row, one
// refusal, one reason. Compiled into a filter when Paddock is built (compile_filter.cc).
//
// What no row names is allowed, up to the newest call that was looked at; anything newer answers
// ENOSYS until somebody has, and so does the x32 ABI. Programs of the 32-bit ABI are killed: its
// numbers and its socketcall(2) would go around the rows.
//
// ptrace, process_vm_readv and _writev, pidfd_getfd and kcmp stay allowed: debuggers need them,
// they reach only processes of the sandbox that the caller could also signal (the agent is
// non-dumpable), and since Linux 4.8 a tracer cannot change a call after the filter has seen it.
#pragma once

#include <cstdint>
#include <vector>

namespace paddock::isolation::seccomp {

enum class Action {
  refuse,             // silently: programs try this and go on without it
  refuse_and_report,  // through the agent's listener, as a denial
};

// On one argument. The kernel truncates most arguments to 32 bits, so values are compared under a
// mask: a high bit must not lead around a row.
struct Condition {
  enum class Is { equal_under_mask, different, greater };
  unsigned argument = 0;
  Is is = Is::equal_under_mask;
  uint64_t mask = 0xffffffff;
  uint64_t value = 0;
};

struct Row {
  const char* name;  // of the system call
  int number;
  Action action;
  int error;  // what the caller gets; 0: told that it was done
  const char* reason;
  std::vector<Condition> conditions;  // all must hold, each on another argument; empty: always
};

// The newest system call that was considered: file_setattr, Linux 6.17.
inline constexpr uint32_t kNewestConsidered = 469;

const std::vector<Row>& table();

}  // namespace paddock::isolation::seccomp
