// Names of one view that share an inode.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "view/changes/change_walk.h"

namespace paddock::view {

struct Delta;

// Filled while a stack is compared, then asked once.
class LinkGroups {
 public:
  // A path of the view; of no interest unless it is a regular file with several names.
  void note(const Touched& touched);
  void note_unchanged(const std::string& path) { unchanged_.insert(path); }
  // Gives each delta of a group, but its leader, the leader's path. The leader is the first path
  // that the view left as it was, else the first one.
  void assign(std::vector<Delta>& deltas) const;

 private:
  using Inode = std::pair<size_t, uint64_t>;  // layer, number

  std::map<Inode, std::vector<std::string>> groups_;  // paths in order
  std::set<std::string> unchanged_;
};

}  // namespace paddock::view
