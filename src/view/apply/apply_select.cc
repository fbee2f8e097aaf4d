#include "view/apply/apply_select.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_set>

#include "base/strings.h"
#include "view/changes/change_stack.h"

namespace paddock::view {
namespace {

using model::FileType;

// "./a//b/" -> "a/b"; "." -> "".
Result<std::string> normal_path(const std::string& path) {
  std::vector<std::string> names;
  for (const std::string& name : split(path, '/')) {
    if (name.empty() || name == ".") continue;
    if (name != "..") {
      names.push_back(name);
    } else if (names.empty()) {
      return Error(Code::invalid_argument,
                   fmt::format("{} leads out of the workspace", printable(path)));
    } else {
      names.pop_back();
    }
  }
  if (!path.empty() && path[0] == '/') {
    return Error(Code::invalid_argument,
                 fmt::format("{} is not relative to the workspace", printable(path)));
  }
  return join(names, "/");
}

void need_directories_above(const std::vector<Delta>& deltas, std::vector<Selected>& selected) {
  std::unordered_set<std::string> needed;
  for (size_t i = deltas.size(); i-- > 0;) {  // below before above
    if (selected[i] == Selected::no && needed.count(deltas[i].path) > 0 &&
        deltas[i].after.is(FileType::directory)) {
      selected[i] = Selected::needed;
    }
    bool makes = selected[i] != Selected::no && deltas[i].after.exists();
    if (makes) needed.insert(parent_of(deltas[i].path));
  }
}

bool replaces_directory(const Delta& delta) {
  return delta.before.is(FileType::directory) && delta.after.exists() &&
         !delta.after.is(FileType::directory);
}

void hold_with_what_is_below(std::vector<Delta>& deltas, size_t top) {
  Below below = deltas_below(deltas, deltas[top].path);
  size_t held = deltas[top].hold != Hold::none ? top : below.first;
  while (held != top && held < below.last && deltas[held].hold == Hold::none) ++held;
  if (held == below.last) return;
  Hold hold = deltas[held].hold;
  std::string reason = fmt::format("{} is held back, and {} becomes something else with it",
                                   printable(deltas[held].path), printable(deltas[top].path));
  auto spread = [&](Delta& delta) {
    if (delta.hold != Hold::none) return;
    delta.hold = hold;
    delta.held_reason = reason;
  };
  spread(deltas[top]);
  for (size_t i = below.first; i < below.last; ++i) spread(deltas[i]);
}

}  // namespace

Result<std::vector<Selected>> select_deltas(const std::vector<Delta>& deltas,
                                            const std::vector<std::string>& paths) {
  if (paths.empty()) return std::vector<Selected>(deltas.size(), Selected::yes);
  std::vector<Selected> selected(deltas.size(), Selected::no);
  for (const std::string& path : paths) {
    std::string top = PD_TRY(normal_path(path));
    size_t found = 0;
    for (size_t i = 0; i < deltas.size(); ++i) {
      if (!is_at_or_below(deltas[i].path, top)) continue;
      selected[i] = Selected::yes;
      ++found;
    }
    if (found == 0) {
      return Error(Code::not_found,
                   fmt::format("the view changed nothing at or below {}", printable(path)))
          .set_remedy("see the paths with: paddock diff --name-only");
    }
  }
  need_directories_above(deltas, selected);
  return selected;
}

Below deltas_below(const std::vector<Delta>& deltas, const std::string& top) {
  // Sorted by bytes, what begins with "top/" stands together.
  auto by_path = [](const Delta& delta, const std::string& path) { return delta.path < path; };
  auto first = std::lower_bound(deltas.begin(), deltas.end(), top + "/", by_path);
  auto last = std::lower_bound(first, deltas.end(), top + "0", by_path);
  return {static_cast<size_t>(first - deltas.begin()), static_cast<size_t>(last - deltas.begin())};
}

void settle_holds(std::vector<Delta>& deltas, HostExec host_exec) {
  for (Delta& delta : deltas) {
    if (host_exec == HostExec::hold_back || delta.hold != Hold::host_exec) continue;
    delta.hold = Hold::none;
    delta.held_reason.clear();
  }
  for (size_t i = 0; i < deltas.size(); ++i) {
    if (replaces_directory(deltas[i])) hold_with_what_is_below(deltas, i);
  }
}

}  // namespace paddock::view
