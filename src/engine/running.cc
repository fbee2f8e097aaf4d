#include "engine/running.h"

#include <fmt/core.h>

#include <utility>

#include "base/strings.h"

namespace paddock::engine {
namespace {

std::string describe(const std::vector<RunningSandbox>& running) {
  std::vector<std::string> lines;
  for (const RunningSandbox& each : running) {
    lines.push_back(each.view.empty() ? each.id.str()
                                      : fmt::format("{} (view {})", each.id.str(), each.view));
  }
  return lines.empty() ? "none runs" : "running: " + join(lines, ", ");
}

}  // namespace

Result<std::vector<RunningSandbox>> list_running(const model::HostPath& home,
                                                 store::Database& database) {
  std::vector<RunningSandbox> running;
  for (const store::Row& row :
       PD_TRY(database.query("SELECT id, coalesce(view, '') FROM sandbox WHERE state = 'running' "
                             "ORDER BY created_ms"))) {
    auto id = PD_TRY(model::SandboxId::parse(row.text(0)));
    model::HostPath directory = home / "sandboxes" / id.str();
    running.push_back({std::move(id), std::string(row.text(1)), std::move(directory)});
  }
  return running;
}

Result<RunningSandbox> find_running(const model::HostPath& home, store::Database& database,
                                    const std::string& prefix) {
  const auto running = PD_TRY(list_running(home, database));
  std::vector<RunningSandbox> found;
  for (const RunningSandbox& each : running) {
    const bool is_view = !each.view.empty() && each.view.starts_with(prefix);
    if (!prefix.empty() && (is_view || each.id.str().starts_with(prefix))) found.push_back(each);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    return Error(Code::not_found,
                 fmt::format("no sandbox '{}' runs; {}", printable(prefix), describe(running)));
  }
  return Error(Code::invalid_argument, fmt::format("'{}' is the beginning of several; {}",
                                                   printable(prefix), describe(found)));
}

}  // namespace paddock::engine
