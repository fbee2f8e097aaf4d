// The links to busybox in the roots of the agent's conformance tests.
#pragma once

namespace paddock::agent::testing {

inline constexpr const char* kApplets[] = {
    "awk",  "cat",      "chroot", "cut",   "date",   "dd",    "echo",   "env",    "false",
    "grep", "head",     "id",     "kill",  "ls",     "mkdir", "mkfifo", "printf", "ps",
    "pwd",  "readlink", "sed",    "seq",   "setsid", "sh",    "sleep",  "sort",   "stty",
    "tail", "tee",      "test",   "touch", "tr",     "true",  "tty",    "wc",     "yes"};

}  // namespace paddock::agent::testing
