// The promises of compile() on any input: what the fuzzer runs and the unit tests
// replay. Defined in policy_fuzz.cc.
#pragma once

#include <string>
#include <string_view>

namespace paddock::policy::testing {

// `input` holds admin, user and project policy and flags ("key=text" lines), separated by lines of
// "----". Empty: every promise holds, or the input was refused. Otherwise the promise that was
// broken.
std::string check_policy_input(std::string_view input);

}  // namespace paddock::policy::testing
