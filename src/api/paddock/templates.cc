// Templates of our own surface: listed, directories added, both kinds forgotten.
#include "api/templates.h"

#include <boost/json.hpp>
#include <utility>

#include "api/e2b/json.h"
#include "api/paddock/request.h"
#include "base/strings.h"

namespace paddock::api::own {
namespace {

using boost::json::object;
using engine::Snapshot;

// Whoever has the socket runs the server; on the network nobody names a path of the host.
bool is_keeper(const Request& request) {
  return request.caller.sees == model::Caller::Sees::all;
}

Error keepers_alone(std::string_view what) {
  return Error(Code::permission_denied,
               std::string(what) + " is for whoever runs the server, on its socket")
      .set_remedy("`paddock template` there, with its PADDOCK_HOME");
}

object directory_json(const engine::DirectoryTemplate& directory, const Request& request) {
  object out;
  out["id"] = directory.name;
  out["kind"] = "directory";
  out["name"] = directory.name;
  if (is_keeper(request)) out["directory"] = directory.directory.str();
  out["created"] = e2b::timestamp(directory.created_ms);
  return out;
}

Result<object> add(const Request& request) {
  if (!is_keeper(request)) return keepers_alone("a directory as a template");
  const object body = PD_TRY(read_object(request, {"name", "directory"}));
  const auto given = PD_TRY(e2b::text_field(body, "name")).value_or("");
  std::string name = PD_TRY(snapshot_name(given));
  if (name.empty()) return Error(Code::invalid_argument, "'name' is missing");
  const auto directory = PD_TRY(e2b::text_field(body, "directory"));
  if (!directory) return Error(Code::invalid_argument, "'directory' is missing");
  return directory_json(
      PD_TRY(request.parts.sandboxes.add_directory(request.task, std::move(name), *directory)),
      request);
}

object built_json(const engine::BuiltTemplate& made,
                  const std::vector<engine::TemplateBuild>& builds,
                  const std::vector<engine::TemplateTag>& tags) {
  object out;
  out["id"] = made.id;
  out["kind"] = "built";
  out["name"] = made.name;
  out["state"] = name_of(engine::kBuildStateNames,
                         builds.empty() ? engine::BuildState::waiting : builds.front().state);
  boost::json::array names;
  for (const engine::TemplateTag& tag : tags) names.emplace_back(tag.tag);
  out["tags"] = std::move(names);
  if (!builds.empty()) out["template"] = builds.front().base_template;
  out["created"] = e2b::timestamp(made.created_ms);
  out["key"] = key_json(made.owner.key.str());
  return out;
}

Status list_built(const Request& request, boost::json::array& list) {
  return request.parts.sandboxes.on_books(request.task, [&](store::Database& database) -> Status {
    engine::BuildTable table(database);
    for (const engine::BuiltTemplate& made : PD_TRY(table.list())) {
      if (!request.caller.may_see(made.owner)) continue;
      list.emplace_back(
          built_json(made, PD_TRY(table.builds_of(made.id)), PD_TRY(table.tags_of(made.id))));
    }
    return {};
  });
}

Result<boost::json::array> list(const Request& request) {
  engine::Sandboxes& sandboxes = request.parts.sandboxes;
  boost::json::array list;
  for (const std::string_view name : engine::kBuiltInTemplates) {
    list.emplace_back(object{{"id", name}, {"kind", "built-in"}, {"name", name}});
  }
  for (const auto& directory : PD_TRY(sandboxes.directories(request.task))) {
    list.emplace_back(directory_json(directory, request));
  }
  PD_TRY(list_built(request, list));
  for (const Snapshot& snapshot : PD_TRY(sandboxes.snapshots(request.task))) {
    if (request.caller.may_see(snapshot.owner)) list.emplace_back(snapshot_json(snapshot));
  }
  return list;
}

Status remove(const Request& request) {
  engine::Sandboxes& sandboxes = request.parts.sandboxes;
  const std::string& named = request.names.front();
  if (engine::is_built_in(named)) {
    return Error(Code::invalid_argument, named + " is built in");
  }
  if (PD_TRY(sandboxes.find_directory(request.task, named))) {
    if (!is_keeper(request)) return keepers_alone("forgetting a directory");
    return sandboxes.remove_directory(request.task, named);
  }
  return api::remove_template({request.task, sandboxes, request.caller}, request.parts.builder,
                              named);
}

}  // namespace

object snapshot_json(const Snapshot& snapshot) {
  object out;
  out["id"] = snapshot.id;
  out["kind"] = "snapshot";
  out["name"] = snapshot.name;
  out["template"] = snapshot.template_name;
  out["sandbox"] = snapshot.sandbox;
  out["guarantee"] = name_of(engine::kGuaranteeNames, snapshot.guarantee);
  out["created"] = e2b::timestamp(snapshot.created_ms);
  out["key"] = key_json(snapshot.owner.key.str());
  return out;
}

Result<Snapshot> snapshot_of(const Request& request, const std::string& named) {
  auto found =
      PD_TRY(find_snapshot({request.task, request.parts.sandboxes, request.caller}, named));
  if (found) return std::move(*found);
  return Error(Code::not_found, "no snapshot " + printable(named.substr(0, 128)))
      .set_remedy("`paddock template ls` lists them");
}

Status list_templates(const Request& request) {
  auto listed = list(request);
  if (!listed.ok()) return answer_error(request, listed.error());
  return answer(request, 200, object{{"templates", std::move(*listed)}});
}

Status add_template(const Request& request) {
  auto added = add(request);
  return added.ok() ? answer(request, 201, *added) : answer_error(request, added.error());
}

Status remove_template(const Request& request) {
  const Status removed = remove(request);
  return removed.ok() ? answer_nothing(request) : answer_error(request, Status(removed).error());
}

}  // namespace paddock::api::own
