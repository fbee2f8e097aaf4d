#include "view/layer_access.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/files.h"
#include "sys/tree_walk.h"

namespace paddock::view {
namespace {

constexpr mode_t kForFiles = 0400;
constexpr mode_t kForDirectories = 0500;

// By the inode that `path` leads to without symlinks.
Status change_mode(const sys::DirFd& root, const std::string& path, mode_t mode) {
  sys::Fd handle = PD_TRY(sys::open_beneath(root, path, O_PATH | O_NOFOLLOW));
  if (::chmod(fmt::format("/proc/self/fd/{}", handle.get()).c_str(), mode) == 0) return {};
  return Error::from_errno(errno, "changing a mode");
}

}  // namespace

LayerAccess::~LayerAccess() {
  // What is inside first: its path leads through what is still open.
  for (auto one = widened_.rbegin(); one != widened_.rend(); ++one) {
    auto layer = sys::open_dir(one->layer.str());
    if (layer.ok()) (void)change_mode(*layer, one->path, one->mode).ok();
  }
}

Result<LayerAccess> LayerAccess::open(const std::vector<model::HostPath>& layers) {
  LayerAccess access;
  if (::geteuid() == 0) return access;
  for (const model::HostPath& layer : layers) {
    sys::DirFd root = PD_TRY(sys::open_dir(layer.str()));
    sys::TreeVisitor visitor;
    visitor.enter = [&](const sys::WalkEntry& entry) -> Result<sys::Descend> {
      bool is_dir = S_ISDIR(entry.st.st_mode);
      mode_t needed = is_dir ? kForDirectories : S_ISREG(entry.st.st_mode) ? kForFiles : 0;
      bool closed = (entry.st.st_mode & needed) != needed && entry.st.st_uid == ::geteuid();
      if (!closed) return sys::Descend::yes;
      mode_t mode = entry.st.st_mode & 07777;
      if (!change_mode(entry.parent, entry.name, mode | needed).ok()) return sys::Descend::no;
      access.widened_.push_back({layer, entry.path, mode});
      access.modes_.emplace(entry.st.st_ino, mode);
      return sys::Descend::yes;
    };
    // A directory of another owner that is closed to us stays so: reading it later says why.
    (void)sys::walk_tree(root, visitor).ok();
  }
  return access;
}

mode_t LayerAccess::mode_of(uint64_t inode, mode_t now) const {
  auto found = modes_.find(inode);
  return found == modes_.end() ? now : found->second;
}

}  // namespace paddock::view
