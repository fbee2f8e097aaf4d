// Bodies of template builds, to and from the engine's values. Pure.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/live/builds/template_builder.h"

namespace paddock::api::e2b {

// What a client wants built, as far as the body says it: `base` is left to the caller.
struct WantedBuild {
  std::string from_template;
  engine::BuildPlan plan;
};
// invalid_argument: a field of the wrong type, a step that cannot be. unsupported: images.
Result<WantedBuild> wanted_build(const boost::json::object& body);

struct WantedTemplate {
  std::string name;  // with a tag, maybe
  std::vector<std::string> tags;
  std::string remark;  // what was asked for and is the server's to say
};
Result<WantedTemplate> wanted_template(const boost::json::object& body,
                                       const model::Limits& limits);

// Texts of an array; none at all is an empty one.
Result<std::vector<std::string>> texts_field(const boost::json::object& body,
                                             std::string_view name);

boost::json::object status_json(const engine::BuildReport& report);
boost::json::object log_json(const engine::BuildLine& line);
boost::json::array tags_json(const std::vector<engine::TemplateTag>& tags);

struct ListedTemplate {
  engine::BuiltTemplate made;
  std::vector<engine::TemplateBuild> builds;  // newest first
};
// What lists show of one.
boost::json::object listed_json(const ListedTemplate& listed, const model::Limits& limits);
// With its builds.
boost::json::object detail_json(const ListedTemplate& listed, const model::Limits& limits);

}  // namespace paddock::api::e2b
