#include "view/collection.h"

#include <algorithm>

namespace paddock::view {

std::vector<ViewInfo> choose_garbage(std::vector<Candidate> views, const model::ViewRules& rules,
                                     int64_t now_ms) {
  std::sort(views.begin(), views.end(),
            [](const Candidate& a, const Candidate& b) { return a.used_ms < b.used_ms; });
  auto is_old = [&](const Candidate& view) {
    int64_t age_ms = std::max<int64_t>(0, now_ms - view.used_ms);
    return static_cast<uint64_t>(age_ms) / 1000 >= rules.keep_seconds;
  };
  uint64_t kept_bytes = 0;
  std::vector<ViewInfo> garbage, kept;
  for (Candidate& view : views) {
    bool goes = view.info.state != ViewState::running && (view.is_done || is_old(view));
    if (!goes) kept_bytes += view.info.bytes;
    (goes ? garbage : kept).push_back(std::move(view.info));
  }
  for (ViewInfo& info : kept) {
    if (kept_bytes <= rules.keep_bytes) break;
    if (info.state == ViewState::running) continue;
    kept_bytes -= info.bytes;
    garbage.push_back(std::move(info));
  }
  return garbage;
}

}  // namespace paddock::view
