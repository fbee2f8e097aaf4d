// Views of workspaces: listed, compared, brought to the host, thrown away. For the keeper alone:
// they name directories of this machine, and write to them.
#include <boost/json.hpp>
#include <functional>
#include <utility>

#include "api/e2b/json.h"
#include "api/paddock/request.h"
#include "base/strings.h"
#include "engine/view_lookup.h"
#include "model/json.h"
#include "view/public_json.h"

namespace paddock::api::own {
namespace {

using boost::json::object;
using view::ViewInfo;
using view::ViewStore;

constexpr size_t kMaxPaths = 10'000;
constexpr int64_t kMaxCommands = 1'000'000;

Status check(const Request& request) {
  return check_keeper(request, "views are of directories of the server's machine");
}

// Runs on the thread of the views: nothing of the loop's is used there.
template <typename F>
auto with_view(const Request& request, F use)
    -> decltype(use(std::declval<ViewStore&>(), std::declval<const ViewInfo&>())) {
  using Answer = decltype(use(std::declval<ViewStore&>(), std::declval<const ViewInfo&>()));
  PD_TRY(check(request));
  engine::WorkspaceViews& all = request.parts.sandboxes.views();
  return all.run(request.task, [&](ViewStore& views) -> Answer {
    const ViewInfo info = PD_TRY(engine::find_view(views, all.database(), request.names.front()));
    Answer answer = use(views, info);
    if (answer.ok()) return answer;
    return engine::name_holder(all.database(), info.id, std::move(answer).error());
  });
}

Status finish(const Request& request, const Result<object>& made) {
  return made.ok() ? answer(request, 200, *made) : answer_error(request, made.error());
}

Result<std::vector<std::string>> paths_of(const object& body) {
  std::vector<std::string> paths;
  const auto* value = body.if_contains("paths");
  if (value == nullptr) return paths;
  const Error wrong(Code::invalid_argument, "'paths' must be a list of paths in the workspace");
  if (!value->is_array() || value->get_array().size() > kMaxPaths) return wrong;
  for (const auto& path : value->get_array()) {
    if (!path.is_string() || path.get_string().empty() || path.get_string()[0] == '/') return wrong;
    paths.emplace_back(path.get_string());
  }
  return paths;
}

Result<object> bring(const Request& request) {
  const object body =
      PD_TRY(read_object(request, {"dry_run", "allow_host_exec", "paths", "branch"}));
  view::ApplyOptions options;
  const bool dry_run = PD_TRY(e2b::flag_field(body, "dry_run")).value_or(false);
  if (dry_run) options.writes = view::Writes::dry_run;
  const bool allow = PD_TRY(e2b::flag_field(body, "allow_host_exec")).value_or(false);
  if (allow) options.host_exec = view::HostExec::allow;
  options.paths = PD_TRY(paths_of(body));
  const auto branch = PD_TRY(e2b::text_field(body, "branch"));
  if (branch && body.size() > 1) {
    return Error(Code::invalid_argument, "'branch' brings commits, and takes no other field");
  }
  return with_view(request, [&](ViewStore& views, const ViewInfo& info) -> Result<object> {
    if (branch) {
      std::string commit = PD_TRY(views.apply_branch(info.id, *branch));
      return object{{"branch", *branch}, {"commit", std::move(commit)}};
    }
    const auto git_paths = PD_TRY(views.changes(info.id)).git_paths;
    return view::to_json(PD_TRY(views.apply(info.id, options)), git_paths);
  });
}

Result<object> undo(const Request& request) {
  const object body = PD_TRY(read_object(request, {"commands"}));
  const int64_t count = PD_TRY(e2b::number_field(body, "commands")).value_or(1);
  if (count < 1 || count > kMaxCommands) {
    return Error(Code::invalid_argument, "'commands' must be 1 to 1000000");
  }
  return with_view(request, [&](ViewStore& views, const ViewInfo& info) -> Result<object> {
    PD_TRY(views.rollback(info.id, static_cast<uint32_t>(count)));
    return view::to_json(PD_TRY(views.find(info.id.str())));
  });
}

}  // namespace

Status list_views(const Request& request) {
  if (Status may = check(request); !may.ok()) return answer_error(request, may.error());
  auto all = request.parts.sandboxes.views().run(request.task,
                                                 [](ViewStore& views) { return views.list(); });
  if (!all.ok()) return answer_error(request, all.error());
  boost::json::array list;
  for (const ViewInfo& info : *all) list.emplace_back(view::to_json(info));
  return answer(request, 200, object{{"views", std::move(list)}});
}

Status show_view(const Request& request) {
  return finish(request,
                with_view(request, [](ViewStore& views, const ViewInfo& info) -> Result<object> {
                  return view::to_json(info, PD_TRY(views.steps(info.id)));
                }));
}

Status show_changes(const Request& request) {
  return finish(request,
                with_view(request, [](ViewStore& views, const ViewInfo& info) -> Result<object> {
                  return model::to_json(PD_TRY(views.changes(info.id)));
                }));
}

Status show_patch(const Request& request) {
  auto patch = with_view(
      request, [](ViewStore& views, const ViewInfo& info) { return views.patch(info.id, {}); });
  if (!patch.ok()) return answer_error(request, patch.error());
  return request.exchange.respond(
      request.task, {200, {{"Content-Type", "application/octet-stream"}}, std::move(*patch)});
}

Status apply_view(const Request& request) {
  return finish(request, bring(request));
}

Status roll_back_view(const Request& request) {
  return finish(request, undo(request));
}

Status discard_view(const Request& request) {
  const Status discarded = with_view(
      request, [](ViewStore& views, const ViewInfo& info) { return views.discard(info.id); });
  return discarded.ok() ? answer_nothing(request) : answer_error(request, discarded.error());
}

}  // namespace paddock::api::own
