#include "view/changes/change_links.h"

#include <algorithm>

#include "view/changes/change_compare.h"

namespace paddock::view {

void LinkGroups::note(const Touched& touched) {
  if (!touched.after.is(model::FileType::regular) || touched.after.links < 2 || touched.git) return;
  groups_[{touched.layer, touched.after.ino}].push_back(touched.path);
}

void LinkGroups::assign(std::vector<Delta>& deltas) const {
  if (groups_.empty()) return;
  for (Delta& delta : deltas) {
    if (!delta.after.is(model::FileType::regular)) continue;
    auto group = groups_.find({delta.layer, delta.after.ino});
    if (group == groups_.end()) continue;
    const std::vector<std::string>& paths = group->second;
    auto leader = std::find_if(paths.begin(), paths.end(),
                               [&](const std::string& path) { return unchanged_.count(path) > 0; });
    if (leader == paths.end()) leader = paths.begin();
    if (*leader != delta.path) delta.link_of = *leader;
  }
}

}  // namespace paddock::view
