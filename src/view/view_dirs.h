// Where the parts of one view are on disk, and how an upper is made.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/ids.h"
#include "model/mounts.h"
#include "model/paths.h"
#include "sys/fd.h"

namespace paddock::view {

// PADDOCK_HOME/views.
model::HostPath views_dir(const model::HostPath& home);

// Paths below views/<id>; see workspace.h. A value.
class ViewDirs {
 public:
  ViewDirs(const model::HostPath& home, const model::ViewId& id)
      : views_(views_dir(home)), root_(views_ / id.str()) {}

  const model::HostPath& views() const { return views_; }
  const model::HostPath& root() const { return root_; }
  model::HostPath lock() const { return root_ / "lock"; }
  model::HostPath hidden() const { return root_ / "hidden"; }
  model::HostPath scratch() const { return root_ / "scratch"; }
  model::HostPath base() const { return root_ / "base"; }
  model::HostPath tree(size_t tree) const { return root_ / ("t" + std::to_string(tree)); }
  model::HostPath step(size_t tree, uint32_t number) const {
    return this->tree(tree) / std::to_string(number);
  }
  model::HostPath layer(size_t tree, uint32_t number) const { return step(tree, number) / "fs"; }
  model::HostPath work(size_t tree, uint32_t number) const { return step(tree, number) / "work"; }

 private:
  model::HostPath views_;
  model::HostPath root_;
};

// Makes the empty upper of a step for one tree, looking like the directory `like` (the layer below,
// or the host's), and its work directory of the same owner. unsupported when the file system of
// PADDOCK_HOME cannot hold an upper.
Result<model::UpperDirs> make_upper(const ViewDirs& dirs, size_t tree, uint32_t number,
                                    const model::HostPath& like);

// True when nothing was written to the upper.
Result<bool> is_unchanged(const model::HostPath& upper);

}  // namespace paddock::view
