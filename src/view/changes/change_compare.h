// What a stack changed, path by path, with all that the three-way check needs to know.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "view/bases/base_store.h"
#include "view/changes.h"
#include "view/changes/change_object.h"
#include "view/changes/change_stack.h"
#include "view/changes/change_walk.h"

namespace paddock::view {

// What is known of the version that the view's change was made from.
enum class BaseOf {
  recorded,  // when a command ended
  assumed,   // the host's object was not changed since the view was opened
  newer,     // it was, and no record was made before
};

enum class Hold {
  none,
  host_exec,  // until the caller allows it
  hidden,     // the host has something there that the view did not show: always
};

// One path that differs between base and view.
struct Delta {
  std::string path;
  Object before;  // the base; the host's present object when it is not known
  Object after;   // in the view
  Object host;    // now; of a hidden path: absent
  BaseOf base = BaseOf::assumed;
  const BaseRecord* record = nullptr;  // owned by the comparison's bases
  size_t layer = kNoLayer;             // which holds `after`
  Hold hold = Hold::none;
  std::string held_reason;
  std::string link_of;  // hard link: the path that carries the inode

  bool is_directory() const {
    return before.is(model::FileType::directory) || after.is(model::FileType::directory);
  }
};

// Owns the open trees and bases that its deltas refer to.
struct Comparison {
  OpenStack stack;
  Bases bases;
  std::vector<Delta> deltas;  // sorted by path
  std::vector<std::string> git_paths;
  std::vector<std::string> skipped;

  // The bytes of a regular file on either side. resource_exhausted beyond `limit`;
  // failed_precondition when the base's bytes were not kept and the host's are others by now.
  Result<std::string> before_bytes(const Delta& delta, uint64_t limit) const;
  Result<std::string> after_bytes(const Delta& delta, uint64_t limit) const;
  Result<sys::FileFd> open_after(const Delta& delta) const;
  // Fill in the digest of a regular file where it is missing; of the base only where it was kept or
  // the host still has it, else it stays empty.
  Status digest_before(Delta& delta) const;
  Status digest_after(Delta& delta) const;
};

Result<Comparison> compare_stack(const LayerStack& stack);

// Directories that other deltas below them imply: not listed for themselves in a change set. One
// entry per delta.
enum class Listed { no, yes };
std::vector<Listed> listed_deltas(const std::vector<Delta>& deltas);

}  // namespace paddock::view
