// What sandboxes are made from: built-in templates, directories, snapshots by id or name.
#pragma once

#include <optional>
#include <string>

#include "engine/live/builds/template_builder.h"
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

// Forgets a snapshot or what a client built. not_found: the caller sees neither.
Status remove_template(const TemplateQuestion& question, engine::TemplateBuilder& builder,
                       const std::string& id_or_name);

// "name" or "name:tag".
struct TemplateName {
  std::string name;
  std::string tag;  // empty: none was said
};
// invalid_argument: no name that a template can have.
Result<TemplateName> template_name(std::string_view given);
Status check_tag(const std::string& tag);
// invalid_argument: a template that the server's keeper has named is called so.
Status check_name_is_free(const TemplateQuestion& question, const std::string& name);

}  // namespace paddock::api
