// Which changes are held back at apply, and why.
#pragma once

#include <string>
#include <vector>

#include "model/change.h"
#include "model/paths.h"

namespace paddock::view {

// What the rules need to know of the tree, beside the path.
struct HoldRules {
  std::vector<std::string> further_globs;
  model::HostPath workspace;  // absolute link targets inside of it do not lead out
};

// Why a change of `path` is held back; empty: it is not. Beyond host_exec_reason(): a symlink that
// stands where the front part of a rule's path does (.github -> x), and one that leads out of the
// workspace.
std::string hold_reason(const std::string& path, const model::FileState& after,
                        const HoldRules& rules);

// True for a path at or below any component that may be taken for .git.
bool is_git_path(const std::string& path);

}  // namespace paddock::view
