#include "sys/pid.h"

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "base/strings.h"
#include "sys/files.h"

namespace paddock::sys {

pid_t pid_of(const PidFd& process) {
  auto info = read_file(fmt::format("/proc/self/fdinfo/{}", process.get()));
  if (!info.ok()) return 0;
  constexpr std::string_view kField = "\nPid:\t";
  size_t at = info->find(kField);
  if (at == std::string::npos) return 0;
  std::string_view rest = std::string_view(*info).substr(at + kField.size());
  auto pid = parse_u64(rest.substr(0, rest.find('\n')));  // "-1" once it is gone
  return pid ? static_cast<pid_t>(*pid) : 0;
}

int64_t start_time_of(pid_t pid) {
  auto stat = read_file(fmt::format("/proc/{}/stat", pid));
  if (!stat.ok()) return 0;
  // The second field is the name in parentheses, which may hold anything.
  size_t after_name = stat->rfind(") ");
  if (after_name == std::string::npos) return 0;
  auto fields = split(std::string_view(*stat).substr(after_name + 2), ' ');
  constexpr size_t kStartTime = 22 - 3;
  auto ticks = fields.size() > kStartTime ? parse_u64(fields[kStartTime]) : std::nullopt;
  return ticks ? static_cast<int64_t>(*ticks) : 0;
}

}  // namespace paddock::sys
