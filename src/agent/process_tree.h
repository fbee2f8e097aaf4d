// The processes of the sandbox, as /proc shows them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::agent {

struct ProcessInfo {
  pid_t pid = 0;
  pid_t parent = 0;
  char state = '?';               // 'Z': a zombie
  uint64_t own_ticks[2] = {};     // user, system
  uint64_t waited_ticks[2] = {};  // of children that it has waited for
  uint64_t rss_pages = 0;
};

// One line of /proc/<pid>/stat (proc(5)); pid 0 when it is malformed. The name in it may hold
// anything. Pure.
ProcessInfo parse_process(std::string_view stat);

// A snapshot that is not atomic: what is born or dies meanwhile may be missing.
std::vector<ProcessInfo> list_processes();

// The one that holds the socket of that inode, as far as the agent may look into it and the search
// ends early enough; 0: not found. `guess` is looked at first.
pid_t find_socket_holder(uint64_t inode, pid_t guess);

// The name that a process gives itself (any bytes); empty when it is gone.
std::string name_of_process(pid_t pid);

// Those below `root`, itself not included; zombies are left out.
std::vector<pid_t> descendants_of(pid_t root, std::span<const ProcessInfo> processes);

}  // namespace paddock::agent
