// A command's output and end as lines of JSON.
#pragma once

#include <functional>

#include "api/paddock/request.h"
#include "engine/live/process.h"
#include "model/settings.h"

namespace paddock::api::own {

struct LinesOptions {
  const model::Limits& limits;
  std::function<void()> before_end{};  // called before the last line is sent
};
// Answers with them until the command ends, or its client leaves (unavailable).
Status send_lines(const Request& request, engine::Process& process, engine::Process::Reader& reader,
                  const LinesOptions& options);

// In the workspace of the sandbox, where it has one, else in its home.
Result<std::string> directory_of(const std::string& named, const engine::LiveSandbox& sandbox);
// The fields of a command, its directory as it was named.
Result<engine::ProcessRequest> command_of(const boost::json::object& body);

}  // namespace paddock::api::own
