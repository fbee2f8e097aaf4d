#include "view/layer_disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "sys/files.h"
#include "sys/tree_walk.h"

namespace paddock::view {
namespace {

using model::HostPath;

constexpr uint64_t kBlock = 512;  // unit of st_blocks, stat(2)
constexpr uint64_t kInode =
    1024;  // an empty file is not free: its inode and its name in a directory
constexpr size_t kFewFiles = 64;

Status sync_fd(const sys::Fd& fd, const HostPath& of) {
  if (::fsync(fd.get()) == 0) return {};
  return Error::from_errno(errno, "syncing " + printable(of.str()));
}

// Regular files and directories, in an order in which contents come before the names; none when
// there are more than a few.
Result<std::vector<std::string>> few_entries(const sys::DirFd& root) {
  std::vector<std::string> entries;
  bool many = false;
  sys::TreeVisitor visitor;
  visitor.closed = sys::Closed::open;
  visitor.enter = [&](const sys::WalkEntry& entry) -> Result<sys::Descend> {
    many = many || entries.size() >= kFewFiles;
    if (!many && S_ISREG(entry.st.st_mode)) entries.push_back(entry.path);
    return many ? sys::Descend::no : sys::Descend::yes;
  };
  visitor.leave = [&](const sys::WalkEntry& entry) -> Status {
    entries.push_back(entry.path);
    return {};
  };
  PD_TRY(sys::walk_tree(root, visitor));
  if (many) entries.clear();
  return entries;
}

// False when one of them cannot be opened by its path.
Result<bool> sync_entries(const sys::DirFd& root, const std::vector<std::string>& entries,
                          const HostPath& layer) {
  std::vector<sys::Fd> open;
  for (const std::string& path : entries) {
    auto fd = sys::open_beneath(root, path, O_RDONLY | O_NONBLOCK);
    if (!fd.ok()) return false;
    // Starts writing all of them before waiting for the first.
    ::sync_file_range(fd->get(), 0, 0, SYNC_FILE_RANGE_WRITE);
    open.push_back(std::move(fd).value());
  }
  for (const sys::Fd& fd : open) PD_TRY(sync_fd(fd, layer));
  return true;
}

}  // namespace

uint64_t disk_use(const HostPath& directory) {
  auto root = sys::open_dir(directory.str());
  struct stat st {};
  if (!root.ok() || ::fstat(root->get(), &st) != 0) return 0;
  uint64_t bytes = static_cast<uint64_t>(st.st_blocks) * kBlock;
  sys::TreeVisitor visitor;
  visitor.closed = sys::Closed::open;
  visitor.enter = [&](const sys::WalkEntry& entry) -> Result<sys::Descend> {
    bool shared = !S_ISDIR(entry.st.st_mode) && entry.st.st_nlink > 1;
    bytes += (kInode + static_cast<uint64_t>(entry.st.st_blocks) * kBlock) /
             (shared ? entry.st.st_nlink : 1);
    return sys::Descend::yes;
  };
  (void)sys::walk_tree(*root, visitor).ok();
  return bytes;
}

Status sync_path(const HostPath& path) {
  sys::FileFd fd = PD_TRY(sys::open_file(path.str(), O_RDONLY));
  return sync_fd(fd, path);
}

Status sync_layer(const HostPath& layer) {
  sys::DirFd root = PD_TRY(sys::open_dir(layer.str()));
  auto entries = PD_TRY(few_entries(root));
  if (!entries.empty() && PD_TRY(sync_entries(root, entries, layer))) return sync_fd(root, layer);
  if (::syncfs(root.get()) == 0) return {};
  return Error::from_errno(errno, "syncing " + printable(layer.str()));
}

}  // namespace paddock::view
