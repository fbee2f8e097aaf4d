#include "engine/view_lookup.h"

#include <fmt/core.h>

#include <map>
#include <set>
#include <utility>

#include "base/strings.h"

namespace paddock::engine {
namespace {

// Of the daemon's, those that are gone too, and of `paddock run`.
constexpr const char* kViewsOfSandboxes =
    "SELECT id, view FROM live_sandbox WHERE view != '' "
    "UNION SELECT id, view FROM sandbox WHERE view IS NOT NULL";

}  // namespace

Result<view::ViewInfo> find_view(view::ViewStore& views, store::Database& database,
                                 const std::string& prefix) {
  auto found = views.find(prefix);
  if (found.ok() || found.error().code() != Code::not_found) return found;
  std::map<std::string, std::string> named;  // sandbox, view
  for (const store::Row& row : PD_TRY(database.query(kViewsOfSandboxes))) {
    if (row.text(0).starts_with(prefix)) named.emplace(row.text(0), row.text(1));
  }
  if (named.empty()) return found;
  if (named.size() > 1) {
    std::vector<std::string> ids;
    for (const auto& [id, view] : named) ids.push_back(id);
    return Error(Code::invalid_argument,
                 fmt::format("{} is one of the sandboxes {}", printable(prefix), join(ids, ", ")))
        .set_remedy("give more characters");
  }
  const auto& [sandbox, view] = *named.begin();
  auto of_sandbox = views.find(view);
  if (of_sandbox.ok() || of_sandbox.error().code() != Code::not_found) return of_sandbox;
  return Error(Code::not_found,
               fmt::format("sandbox {} has no view any more: it changed nothing", sandbox));
}

Error name_holder(store::Database& database, const model::ViewId& view, Error why) {
  if (why.code() != Code::failed_precondition) return why;
  auto rows = database.query(
      "SELECT id FROM live_sandbox WHERE view = ? AND state != 'gone' AND NOT (state = 'paused' "
      "AND kept = 'files')",
      {view.str()});
  if (!rows.ok() || rows->empty()) return why;
  const std::string sandbox = (*rows)[0].text(0);
  return Error(Code::failed_precondition,
               fmt::format("sandbox {} works in view {}", sandbox, view.str()))
      .set_remedy(fmt::format(
          "`paddock pause --files-only {0}` (`paddock resume {0}` goes on), or `paddock kill {0}`",
          sandbox));
}

}  // namespace paddock::engine
