#include "sys/tree_walk.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <cerrno>
#include <vector>

#include "base/strings.h"
#include "sys/files.h"

namespace paddock::sys {
namespace {

// One directory on the way down. Its descriptor is closed while we are below: the way back is "..".
struct Level {
  std::vector<DirEntry> entries;
  size_t next = 0;
  dev_t device = 0;
  ino_t inode = 0;
  struct stat st {};       // as the parent's lstat saw it
  size_t path_length = 0;  // of the walk's path without this directory's name
};

class Walk {
 public:
  Walk(const DirFd& root, const TreeVisitor& visitor) : root_(root), visitor_(visitor) {}

  Status run() {
    DirFd start = PD_TRY(open_dir_at(root_, "."));
    PD_TRY(open_level(std::move(start), {}));
    while (!levels_.empty()) {
      Level& level = levels_.back();
      if (level.next < level.entries.size()) {
        PD_TRY(visit(level.entries[level.next++].name));
      } else {
        PD_TRY(close_level());
      }
    }
    return {};
  }

 private:
  Status open_level(DirFd dir, const struct stat& seen) {
    struct stat st {};
    if (::fstat(dir.get(), &st) != 0) return Error::from_errno(errno, "examining a directory");
    Level level;
    level.entries = PD_TRY(list_dir(dir));
    level.device = st.st_dev;
    level.inode = st.st_ino;
    level.st = seen;
    level.path_length = path_length_;
    levels_.push_back(std::move(level));
    dir_ = std::move(dir);
    return {};
  }

  Status visit(const std::string& name) {
    path_length_ = path_.size();
    if (!path_.empty()) path_ += '/';
    path_ += name;
    auto st = lstat_at(dir_, name);
    if (!st.ok()) {
      path_.resize(path_length_);
      return st.error().code() == Code::not_found ? Status() : Status(std::move(st).error());
    }
    Descend descend = PD_TRY(visitor_.enter({dir_, name, path_, *st}));
    if (descend == Descend::yes && S_ISDIR(st->st_mode) && st->st_dev == levels_.back().device) {
      auto below = open_dir_at(dir_, name);
      if (below.ok()) return open_level(std::move(below).value(), *st);
      if (below.error().code() != Code::not_found) {
        return std::move(below).error().add_context("walking " + printable(path_));
      }
    }
    path_.resize(path_length_);
    return {};
  }

  Status close_level() {
    Level done = std::move(levels_.back());
    levels_.pop_back();
    if (levels_.empty()) return {};
    int up = ::openat(dir_.get(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (up < 0) return Error::from_errno(errno, "leaving " + printable(path_));
    dir_ = DirFd(up);
    struct stat st {};
    const Level& parent = levels_.back();
    if (::fstat(up, &st) != 0 || st.st_dev != parent.device || st.st_ino != parent.inode) {
      return Error(Code::failed_precondition,
                   fmt::format("{} was moved meanwhile", printable(path_)));
    }
    if (visitor_.leave) {
      PD_TRY(visitor_.leave({dir_, parent.entries[parent.next - 1].name, path_, done.st}));
    }
    path_.resize(done.path_length);
    return {};
  }

  const DirFd& root_;
  const TreeVisitor& visitor_;
  DirFd dir_;  // of levels_.back()
  std::vector<Level> levels_;
  std::string path_;
  size_t path_length_ = 0;  // before the entry that is visited
};

}  // namespace

Status walk_tree(const DirFd& root, const TreeVisitor& visitor) {
  return Walk(root, visitor).run();
}

}  // namespace paddock::sys
