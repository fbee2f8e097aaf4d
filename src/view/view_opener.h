// Opens a view for one command: directories, mask, rows, in the order that a kill leaves no trace
// of half of it.
#pragma once

#include <memory>

#include "base/result.h"
#include "model/paths.h"
#include "sys/fd.h"
#include "view/catalog.h"
#include "view/git/git_trees.h"
#include "view/kept_view.h"
#include "view/workspace.h"
#include "view/workspace_check.h"

namespace paddock::view {

// What the host shows of the workspace right now.
struct HostSide {
  Workspace workspace;
  GitTrees git;
};

struct LockedView {
  KeptView view;
  sys::FileFd lock;
};

// A new view with an id of its own, locked, on disk and not in the catalogue yet.
Result<LockedView> make_view(const model::HostPath& home, const HostSide& host,
                             const OpenOptions& options);

// Starts the next step of the view: makes its uppers and writes the rows. The view's steps are
// sealed.
Result<std::unique_ptr<OpenView>> open_step(const model::HostPath& home, Catalog& catalog,
                                            LockedView locked, const HostSide& host,
                                            const OpenOptions& options);

}  // namespace paddock::view
