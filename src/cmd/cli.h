// argv → Invocation.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "cmd/invocation.h"

namespace paddock::cmd {

// What to do, or what to print (help, version, a complaint) and the status to exit with.
struct Exit {
  int status = 0;
  std::string out;  // for stdout
  std::string err;  // for stderr
};

std::variant<Invocation, Exit> parse_command_line(int argc, char** argv);

}  // namespace paddock::cmd
