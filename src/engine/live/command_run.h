// A command of our own inside, from its start to its end.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/live/live_sandbox.h"

namespace paddock::engine {

using OnOutput = std::function<void(OutputKind kind, std::string_view bytes)>;

// Until it ends; without `on_output` what it writes is dropped. unavailable: the sandbox ended.
Result<wire::Ended> run_to_end(net::Task& task, LiveSandbox::Started& started,
                               const OnOutput& on_output);

// A script for the login shell of the sandbox: bash where there is one, else sh.
ProcessRequest shell_request(std::string script);

bool is_success(const wire::Ended& ended);
// "exit status 3", "signal 9", "its time was up", …
std::string describe(const wire::Ended& ended);

}  // namespace paddock::engine
