#include "cmd/view_choice.h"

#include <fmt/core.h>

#include "base/strings.h"
#include "engine/view_lookup.h"

namespace paddock::cmd {

Result<view::ViewInfo> choose_view(view::ViewStore& views, Context& context,
                                   const std::string& prefix) {
  if (!prefix.empty()) return engine::find_view(views, *PD_TRY(context.database()), prefix);
  std::string at = context.caller().directory.str();
  while (true) {
    auto newest = views.newest_of(model::HostPath(at));
    if (newest.ok() || newest.error().code() != Code::not_found) return newest;
    size_t slash = at.find_last_of('/');
    if (slash == std::string::npos || slash == 0) break;
    at.resize(slash);
  }
  return Error(Code::not_found, "no view of this directory is waiting")
      .set_remedy("name one: `paddock ls` lists them, or make one: `paddock run -- COMMAND`");
}

Result<std::vector<std::string>> relative_paths(const std::vector<std::string>& paths,
                                                const model::HostPath& workspace,
                                                const Context& context) {
  std::vector<std::string> relative;
  for (const std::string& path : paths) {
    std::string absolute =
        path.starts_with("/") ? path : context.caller().directory.str() + "/" + path;
    // By words alone: what the path names may exist in the view only.
    std::vector<std::string> parts;
    for (const std::string& part : split(absolute, '/')) {
      if (part == ".." && !parts.empty()) {
        parts.pop_back();
      } else if (!part.empty() && part != "." && part != "..") {
        parts.push_back(part);
      }
    }
    std::string normal = "/" + join(parts, "/");
    if (!workspace.contains(model::HostPath(normal))) {
      return Error(Code::invalid_argument,
                   fmt::format("{} is not in the workspace {}", printable(path),
                               printable(workspace.str())));
    }
    if (normal == workspace.str()) return std::vector<std::string>();  // all of it
    relative.push_back(normal.substr(workspace.str().size() + 1));
  }
  return relative;
}

Error held_error(Context& context, const view::ViewInfo& info, Error why) {
  auto database = context.database();
  return database.ok() ? engine::name_holder(**database, info.id, std::move(why)) : why;
}

std::string short_id(const model::ViewId& id) {
  return id.str().substr(0, 8);
}

}  // namespace paddock::cmd
