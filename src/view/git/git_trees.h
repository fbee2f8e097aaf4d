// The git directories that a workspace needs outside of itself: of a linked worktree, or of a
// submodule's checkout. Found by reading files, git does not run.
#pragma once

#include <vector>

#include "model/decision.h"
#include "model/mounts.h"
#include "model/paths.h"
#include "view/workspace_check.h"

namespace paddock::view {

struct GitTrees {
  // Of the repository that the workspace is a checkout of; empty: it is none, or an unusable one.
  model::HostPath git_dir;
  model::HostPath common_dir;
  std::vector<model::HostPath> outside;  // trees to show beside the workspace; canonical
  std::vector<model::Symlink> links;     // that lead from the spelling in `.git` to them
  std::vector<model::Control> controls;  // what git will not find inside, and why
};

// A `.git` file may have been planted to have another directory of the host shown: one outside of
// the workspace is taken only when it is a git directory that names this workspace as its checkout.
// What is not taken is no error; git then does not work inside, and a control says so.
GitTrees find_git_trees(const Workspace& workspace, const Surroundings& around);

}  // namespace paddock::view
