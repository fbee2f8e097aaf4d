// What the agent and the supervisor of a command tell each other: fixed structures over a socket
// pair of type SOCK_SEQPACKET, between processes of the same program.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace paddock::agent {

// To the supervisor.
struct Order {
  enum class Kind : uint32_t {
    signal_group,  // the process group of the command's first process
    signal_tree,   // every process of the command
    kill_tree,     // until none is left
    leave,         // nobody listens any more; what runs goes on (not from the agent)
  };
  Kind kind;
  int32_t signal;
};

// What could not be done between fork and exec.
enum class LaunchStep : uint32_t {
  none,
  landlock,
  terminal,
  streams,
  directory,
  limits,
  identity,
  exec
};

// From the supervisor, in this order: started or failed; main_ended; tree_ended.
struct Report {
  enum class Kind : uint32_t {
    started,
    failed,      // nothing runs; the supervisor exits
    main_ended,  // the command's first process
    tree_ended,  // no process is left; the supervisor exits
  };
  Kind kind;
  pid_t pid;            // started, and failed in exec
  LaunchStep step;      // failed
  int32_t error;        // failed: errno
  int32_t wait_status;  // main_ended: as wait(2) gives it
  uint32_t killed;      // tree_ended: processes that died of kill_tree after the main one had ended
  uint32_t children_left;  // main_ended: 0 or 1
  uint64_t wall_us;        // main_ended
  uint64_t user_us;        // main_ended, tree_ended: of all processes that have ended
  uint64_t system_us;
  uint64_t max_rss_bytes;
};

}  // namespace paddock::agent
