// What is mounted where, as this process sees it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace paddock::sys {

// Absolute paths of all mount points, in the order they were mounted. Bytes: the octal escapes of
// /proc/self/mountinfo (proc_pid_mountinfo(5): blank, tab, newline, backslash) are undone.
Result<std::vector<std::string>> mount_points();
// The same from the text of a mountinfo file; lines that are none are passed over.
std::vector<std::string> parse_mount_points(std::string_view mountinfo);

}  // namespace paddock::sys
