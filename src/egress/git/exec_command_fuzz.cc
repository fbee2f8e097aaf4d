// What is taken is one of two programs and one path, whatever was sent, and is read again as the
// same.
#include <algorithm>

#include "base/testing/fuzz.h"
#include "egress/git/exec_command.h"

PD_FUZZ_TARGET(exec_command) {
  using paddock::egress::git::parse_exec_command;
  using paddock::testing::require;
  const auto parsed = parse_exec_command(bytes);
  if (!parsed.ok()) return;
  const std::string command = parsed->command();
  require(std::count(command.begin(), command.end(), '\'') == 2);
  require(std::count(command.begin(), command.end(), ' ') == 1);
  require(command.find_first_of("\\\"`$;&|<>(){}*?[]#!\n\r\t\0") == std::string::npos);
  require(("/" + parsed->path + "/").find("/../") == std::string::npos);
  require(!parsed->repository.starts_with('/') && !parsed->repository.empty());
  const auto again = parse_exec_command(command);
  require(again.ok() && again->repository == parsed->repository && again->step == parsed->step);
}
