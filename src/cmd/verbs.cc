#include "cmd/verbs.h"

#include "cmd/console.h"

namespace paddock::cmd {

int fail(const Error& error) {
  say_error(error);
  return error.code() == Code::invalid_argument ? 2 : 1;
}

}  // namespace paddock::cmd
