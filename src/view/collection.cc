#include "view/collection.h"

#include <algorithm>

namespace paddock::view {

std::vector<ViewInfo> choose_garbage(std::vector<ViewInfo> views, const model::ViewRules& rules,
                                     int64_t now_ms) {
  std::sort(views.begin(), views.end(),
            [](const ViewInfo& a, const ViewInfo& b) { return a.created_ms < b.created_ms; });
  auto is_done = [](const ViewInfo& view) {
    return view.state == ViewState::applied || view.state == ViewState::discarded;
  };
  auto is_old = [&](const ViewInfo& view) {
    int64_t age_ms = std::max<int64_t>(0, now_ms - view.created_ms);
    return static_cast<uint64_t>(age_ms) / 1000 >= rules.keep_seconds;
  };
  uint64_t kept_bytes = 0;
  std::vector<ViewInfo> garbage, kept;
  for (ViewInfo& view : views) {
    bool goes = view.state != ViewState::running && (is_done(view) || is_old(view));
    if (!goes) kept_bytes += view.bytes;
    (goes ? garbage : kept).push_back(std::move(view));
  }
  for (ViewInfo& view : kept) {
    if (kept_bytes <= rules.keep_bytes) break;
    if (view.state == ViewState::running) continue;
    kept_bytes -= view.bytes;
    garbage.push_back(std::move(view));
  }
  return garbage;
}

}  // namespace paddock::view
