// The project file that `paddock init` writes. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace paddock::policy {

// Every setting that a project can have, with what it is: commented out at its shipped value ("#key
// = value"), or set as the profile has it. Reads back to the profile's values. Empty `profile`: all
// commented. not_found: no such shipped profile; the remedy lists them.
Result<std::string> make_project_file(std::string_view profile);

}  // namespace paddock::policy
