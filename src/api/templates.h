// What sandboxes are made from: built-in templates, directories, snapshots by id or name.
#pragma once

#include <optional>
#include <string>

#include "engine/live/sandboxes.h"
#include "model/owner.h"

namespace paddock::api {

// Who asks, of whom.
struct TemplateQuestion {
  net::Task& task;
  engine::Sandboxes& sandboxes;
  const model::Caller& caller;
};

// The one tag that there is goes unsaid.
inline constexpr std::string_view kOnlyTag = ":default";
// nullopt: none, or none that the caller may see.
Result<std::optional<engine::Snapshot>> find_snapshot(const TemplateQuestion& question,
                                                      const std::string& id_or_name);
// Where the request names a snapshot: from what it is made. Built-in templates and directories are
// never hidden.
Status find_origin(const TemplateQuestion& question, engine::CreateRequest& wanted);
// invalid_argument: no name that a snapshot can have. Empty: none.
Result<std::string> snapshot_name(std::string given);

}  // namespace paddock::api
