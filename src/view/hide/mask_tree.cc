#include "view/hide/mask_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "sys/files.h"
#include "sys/rename.h"
#include "view/dir_attributes.h"

namespace paddock::view {
namespace {

using model::HostPath;

const std::string kTree = "tree";
const std::string kWhiteout = "whiteout";  // all others are hard links to it: one inode for a mask
const std::string kNew = "new";            // under construction

Error fail(const char* action, const std::string& name) {
  return Error::from_errno(errno, fmt::format("{} {} of the mask", action, printable(name)));
}

// In a directory of ours, where names are our own.
bool is_whiteout_at(const sys::DirFd& dir, const std::string& name) {
  auto st = sys::lstat_at(dir, name);
  return st.ok() && S_ISCHR(st->st_mode) && st->st_rdev == ::makedev(0, 0);
}

class Planter {
 public:
  Planter(const MaskPlanting& planting, sys::DirFd base)
      : planting_(planting), index_(planting.scan.index), base_(std::move(base)) {}

  Status run() {
    PD_TRY(sys::remove_tree_at(base_, kNew));
    PD_TRY(make_whiteout());
    if (::mkdirat(base_.get(), kTree.c_str(), 0700) != 0 && errno != EEXIST)
      return fail("making", kTree);
    sys::DirFd tree = PD_TRY(open_own(base_, kTree));
    return fill(0, tree);
  }

 private:
  // The layer's directories carry the host's modes, which may deny them to us.
  static Result<sys::DirFd> open_own(const sys::DirFd& parent, const std::string& name) {
    auto dir = sys::open_dir_at(parent, name);
    if (dir.ok() || dir.error().errno_value() != EACCES) return dir;
    if (::fchmodat(parent.get(), name.c_str(), 0700, 0) != 0) return fail("opening", name);
    return sys::open_dir_at(parent, name);
  }

  Status make_whiteout() {
    if (is_whiteout_at(base_, kWhiteout)) return {};
    PD_TRY(sys::remove_tree_at(base_, kWhiteout));
    // Anybody may make this one device since Linux 5.8.
    if (::mknodat(base_.get(), kWhiteout.c_str(), S_IFCHR | 0600, ::makedev(0, 0)) == 0) return {};
    return Error::from_errno(errno, "making a whiteout")
        .set_remedy("set PADDOCK_HOME to a directory on a local ext4, xfs or btrfs");
  }

  Status link_whiteout(const sys::DirFd& dir, const std::string& name) {
    if (::linkat(base_.get(), kWhiteout.c_str(), dir.get(), name.c_str(), 0) == 0) return {};
    // EMLINK: as many links as the file system allows.
    bool linkable = errno != EMLINK && errno != EPERM && errno != EXDEV && errno != EOPNOTSUPP;
    if (linkable) return fail("hiding", name);
    if (::mknodat(dir.get(), name.c_str(), S_IFCHR | 0600, ::makedev(0, 0)) == 0) return {};
    return fail("hiding", name);
  }

  // What the mask directory of record `at` must hold.
  std::map<std::string, uint32_t> wanted(uint32_t at) const {
    const IndexedDir& dir = index_.dirs[at];
    std::map<std::string, uint32_t> entries;  // 0: a whiteout, else the record of a directory
    for (const std::string& name : planting_.patterns.certain_names()) entries.emplace(name, 0);
    for (uint32_t i = 0; i < dir.hidden_count; ++i) {
      entries.emplace(index_.text(index_.hidden[dir.first_hidden + i]), 0);
    }
    for (uint32_t child = at + 1; child <= at + dir.descendants;
         child += 1 + index_.dirs[child].descendants) {
      if (index_.dirs[child].is_mirrored())
        entries[std::string(index_.text(index_.dirs[child].name))] = child;
    }
    return entries;
  }

  // Everything that must be there, then away with what must not, then the host's attributes.
  Status fill(uint32_t at, const sys::DirFd& dir) {
    size_t length = path_.size();
    bool touched = false;
    std::map<std::string, uint32_t> entries = wanted(at);
    std::map<std::string, unsigned char> present;
    for (sys::DirEntry& entry : PD_TRY(sys::list_dir(dir)))
      present.emplace(std::move(entry.name), entry.type);
    for (const auto& [name, record] : entries) {
      auto there = present.find(name);
      bool is_dir = there != present.end() && there->second == DT_DIR;
      bool is_right = there != present.end() && is_dir == (record != 0);
      touched = touched || !is_right;
      if (!path_.empty()) path_ += '/';
      path_ += name;
      PD_TRY(record == 0 ? put_whiteout(dir, name, there != present.end(), is_right)
                         : put_directory(dir, name, record, there != present.end(), is_right));
      path_.resize(length);
    }
    for (const auto& [name, type] : present) {
      if (entries.count(name) != 0 || still_hidden(name, type)) continue;
      PD_TRY(sys::remove_tree_at(dir, name));
      touched = true;
    }
    return look_like_host(at, dir, touched);
  }

  Status put_whiteout(const sys::DirFd& dir, const std::string& name, bool exists, bool is_right) {
    if (is_right) return {};
    make_writable(dir);
    if (!exists) return link_whiteout(dir, name);
    PD_TRY(sys::remove_tree_at(base_, kNew));
    PD_TRY(link_whiteout(base_, kNew));
    PD_TRY(sys::exchange({base_, kNew}, {dir, name}));
    return sys::remove_tree_at(base_, kNew);
  }

  // A directory that is not there yet is filled before it appears.
  Status put_directory(const sys::DirFd& dir, const std::string& name, uint32_t record, bool exists,
                       bool is_right) {
    if (is_right) {
      sys::DirFd below = PD_TRY(open_own(dir, name));
      return fill(record, below);
    }
    make_writable(dir);
    if (constructing_) {
      if (::mkdirat(dir.get(), name.c_str(), 0700) != 0) return fail("making", name);
      sys::DirFd below = PD_TRY(sys::open_dir_at(dir, name));
      return fill(record, below);
    }
    PD_TRY(sys::remove_tree_at(base_, kNew));
    if (::mkdirat(base_.get(), kNew.c_str(), 0700) != 0) return fail("making", name);
    sys::DirFd below = PD_TRY(sys::open_dir_at(base_, kNew));
    constructing_ = true;
    Status filled = fill(record, below);
    constructing_ = false;
    PD_TRY(std::move(filled));
    if (!exists) return sys::rename_new({base_, kNew}, {dir, name});
    PD_TRY(sys::exchange({base_, kNew}, {dir, name}));
    return sys::remove_tree_at(base_, kNew);
  }

  // A whiteout that nothing asks for any more stays while the host has the entry again: somebody
  // made it after the scan. So does one of a name that is hidden whatever it is.
  bool still_hidden(const std::string& name, unsigned char type) const {
    if (type == DT_DIR) return false;
    std::string path = path_.empty() ? name : path_ + "/" + name;
    struct stat st {};
    if (::fstatat(planting_.host.get(), path.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) return false;
    return planting_.patterns.hides(name, path,
                                    S_ISDIR(st.st_mode) ? EntryKind::directory : EntryKind::other);
  }

  static void make_writable(const sys::DirFd& dir) {
    struct stat st {};
    if (::fstat(dir.get(), &st) == 0 && (st.st_mode & 0300) != 0300)
      ::fchmod(dir.get(), st.st_mode | 0300);
  }

  // A planting that was cut leaves a directory with its entries and without its times.
  bool has_times_of(uint32_t at, const sys::DirFd& dir) const {
    struct stat st {};
    return ::fstat(dir.get(), &st) == 0 &&
           DirIdentity::of(st).mtime_ns == index_.dirs[at].identity.mtime_ns;
  }

  Status look_like_host(uint32_t at, const sys::DirFd& dir, bool touched) {
    if (!touched && !planting_.scan.was_read[at] && has_times_of(at, dir)) return {};
    auto host = sys::open_dir_at(planting_.host, path_.empty() ? "." : path_);
    // Gone since the scan: the next one sees it.
    if (!host.ok()) return {};
    OwnerCopy owner = PD_TRY(copy_dir_attributes(*host, dir));
    uint32_t& flags = planting_.scan.index.dirs[at].flags;
    flags = owner == OwnerCopy::exact ? flags & ~kForeignOwner : flags | kForeignOwner;
    return {};
  }

  const MaskPlanting& planting_;
  const MaskIndex& index_;
  sys::DirFd base_;
  std::string path_;  // of the directory that is filled, from the workspace
  bool constructing_ = false;
};

}  // namespace

Status plant_mask(const MaskPlanting& planting) {
  sys::DirFd base = PD_TRY(sys::open_dir(planting.directory.str()));
  return Planter(planting, std::move(base)).run();
}

}  // namespace paddock::view
