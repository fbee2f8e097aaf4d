// The command line of sudo(8), as far as it means something here. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace paddock::agent::sudo {

struct Options {
  enum class Action { run, validate, list, version, help } action = Action::run;
  std::string user = "root";
  std::string group;      // empty: the user's
  std::string directory;  // empty: the caller's
  enum class Shell { none, shell, login } shell = Shell::none;
  enum class Environment { reset, preserve } environment = Environment::reset;
  enum class Home { as_environment, target } home = Home::as_environment;
  enum class Wait { yes, in_background } wait = Wait::yes;
  std::vector<std::string> preserved;  // names, of --preserve-env=…
  std::vector<std::string> variables;  // "K=V" before the command
  std::vector<std::string> command;    // empty: the shell, or nothing to do
};

// `words` without the program's own name. What asks for a password or keeps one (-n -S -k -A -p)
// has no meaning and is taken. invalid_argument: an option that nobody knows, or one that would
// change what is asked for (-R, -e, -r, -t …).
Result<Options> parse(const std::vector<std::string>& words);

}  // namespace paddock::agent::sudo
