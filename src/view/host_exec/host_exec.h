// Which changes are held back at apply, and why.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/change.h"
#include "model/paths.h"

namespace paddock::view {

struct HoldRules {
  std::vector<std::string> further_globs;
  model::HostPath workspace;  // absolute link targets inside of it do not lead out
};

// Asked for path after path of one tree; remembers the answers for directories, so that depth costs
// nothing. Beyond host_exec_reason() it holds a symlink that stands where the front part of a
// rule's path does (.github -> x), and one that leads out of the workspace.
class HoldBack {
 public:
  explicit HoldBack(HoldRules rules);

  // Why a change of `path`, a normal relative path, to `after` is held back; empty: it is not.
  std::string reason(const std::string& path, const model::FileState& after);

 private:
  std::string own_reason(const std::string& path) const;
  const std::string& reason_of_directory(const std::string& path);

  HoldRules rules_;
  std::vector<std::string> folded_globs_;
  std::map<std::string, std::string> known_;  // of directories; the root is ""
};

// True for a path at or below any component that may be taken for .git.
bool is_git_path(const std::string& path);

}  // namespace paddock::view
