// The parent of one command: a forked child of the agent that starts it, adopts its orphans, passes
// signals on, kills what is left and reports how it ended.
#pragma once

#include <vector>

#include "agent/launch.h"
#include "sys/fd.h"

namespace paddock::agent {

// The body of the supervisor, right after the fork. Keeps nothing of the agent's open but `agent`,
// its end of the socket pair (supervisor_messages.h), and the plan's streams until the command has
// them. Ends with the command's last process, or kills everything when the agent's end closes.
[[noreturn]] void supervise(LaunchPlan& plan, sys::SocketFd agent);

// Of a process that was forked off the agent; 0, 1 and 2 stay, too. Negative numbers are none.
void close_all_but(std::vector<int> kept);

}  // namespace paddock::agent
