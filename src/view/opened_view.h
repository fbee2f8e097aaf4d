// The OpenView of a KeptView: holds its lock while a command runs, then seals the step.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/decision.h"
#include "model/mounts.h"
#include "sys/fd.h"
#include "view/catalog.h"
#include "view/kept_view.h"
#include "view/workspace.h"

namespace paddock::view {

struct OpenedParts {
  KeptView view;         // its last step is the one that is open
  sys::FileFd lock;      // of the view
  sys::FileFd mask_use;  // keeps the mask layer from being collected; may be none
  std::vector<model::OverlayTree> trees;
  std::vector<model::Symlink> links;
  std::vector<std::string> hidden;
  std::vector<model::Control> controls;
  uid_t owner_uid = 0;
  gid_t owner_gid = 0;
};

// `catalog` outlives the view.
std::unique_ptr<OpenView> make_open_view(Catalog& catalog, OpenedParts parts);

// Everything that the view changed: files of the workspace, and what of git changed anywhere.
Result<model::ChangeSet> changes_of(const KeptView& view, LineCounts lines);
model::ChangeCounts count_changes(const model::ChangeSet& changes);

}  // namespace paddock::view
