// The trees that a change set compares, held open.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"
#include "view/changes.h"
#include "view/layer_access.h"

namespace paddock::view {

// Owns a descriptor of every layer and of the host directory. Paths are relative; the root is "".
// Every step below goes through these descriptors, so that no symlink is followed.
class OpenStack {
 public:
  static Result<OpenStack> open(const LayerStack& stack);

  size_t layer_count() const { return layers_.size(); }
  const sys::DirFd& layer(size_t index) const { return layers_[index]; }
  const sys::DirFd& host() const { return host_; }
  // What the sandbox closed to its user is open while the stack is: the mode it gave the object.
  mode_t mode_of(uint64_t layer_inode, mode_t now) const {
    return access_.mode_of(layer_inode, now);
  }

  // The path itself or the directory above it that was masked from the view.
  std::optional<std::string> hidden_root(const std::string& path) const;
  // Something below the directory was.
  bool hides_below(const std::string& path) const;

 private:
  LayerAccess access_;
  std::vector<sys::DirFd> layers_;
  sys::DirFd host_;
  std::set<std::string> hidden_;
};

// The directory itself for "". Symlinks are refused.
Result<sys::DirFd> open_dir_in(const sys::DirFd& root, const std::string& path);

std::string parent_of(const std::string& path);  // "" for a name at the root
std::string name_of(const std::string& path);
std::string child_of(const std::string& parent, const std::string& name);
bool is_at_or_below(const std::string& path, const std::string& top);

}  // namespace paddock::view
