// One view as it is on disk and in the catalogue: its steps, and the layers that they left.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "model/ids.h"
#include "model/paths.h"
#include "view/catalog.h"
#include "view/changes.h"
#include "view/view_dirs.h"

namespace paddock::view {

// A copy of the rows when they were read. Whoever changes the view holds its lock from before
// reading them.
struct KeptView {
  ViewDirs dirs;
  ViewRecord record;
  std::vector<StepRecord> steps;  // by number

  size_t tree_count() const { return record.trees.hosts.size(); }
  uint32_t last_number() const { return steps.empty() ? 0 : steps.back().step.number; }
  bool has_layers() const;
  int64_t oldest_uncaptured_ns() const;

  // Of one tree, newest first: the layers of steps that are not undone, and on top what a step that
  // is not sealed wrote by now.
  std::vector<model::HostPath> layers(size_t tree) const;
  Result<LayerStack> stack(size_t tree) const;
  // True when `paths`, of a change set's git_paths, tell of nothing but an index that git
  // refreshed.
  bool only_refreshed_index(const std::vector<std::string>& paths) const;
  // The view made git objects: apply brings none, apply_branch may not have been asked to.
  bool has_commits() const;
  // not_found: the workspace is no checkout of a repository. unsupported: the view replaced a
  // directory that holds the git directory.
  Result<GitView> git() const;
};

// not_found: no such view.
Result<KeptView> load_view(const model::HostPath& home, Catalog& catalog, const model::ViewId& id);

// Turns the uppers of step `number` into layers: drops those that nothing was written to, and syncs
// the others. Returns the bits of the trees that have a layer. May be called again after it was
// cut.
Result<uint64_t> seal_uppers(const KeptView& view, uint32_t number);

// Seals what interrupted commands left and keeps the bases of what they changed. The view's lock is
// held.
Status seal_interrupted(KeptView& view, Catalog& catalog);

// Paths of the host that were masked from any command of the view.
Result<std::vector<std::string>> read_hidden(const ViewDirs& dirs);
Status add_hidden(const ViewDirs& dirs, const std::vector<std::string>& paths);

}  // namespace paddock::view
