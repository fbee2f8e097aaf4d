#include "sys/tree_walk.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>
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
  struct stat st {};              // as the parent's lstat saw it
  std::optional<mode_t> widened;  // the mode to give back
  size_t path_length = 0;         // of the walk's path without this directory's name
};

// Opens `name` after giving it `mode`, both by its inode: the name may be another's by now.
Result<Fd> open_widened(const DirFd& parent, const std::string& name, int flags, mode_t mode) {
  Fd handle(::openat(parent.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!handle.is_open()) return Error::from_errno(errno, "opening " + printable(name));
  std::string path = fmt::format("/proc/self/fd/{}", handle.get());
  if (::chmod(path.c_str(), mode & 07777) != 0) {
    return Error::from_errno(errno, "widening the mode of " + printable(name));
  }
  Fd opened(::open(path.c_str(), (flags & ~O_NOFOLLOW) | O_CLOEXEC));
  if (!opened.is_open()) return Error::from_errno(errno, "opening " + printable(name));
  return opened;
}

// Root opens everything as it is.
bool is_callers(const struct stat& st) {
  return ::geteuid() != 0 && st.st_uid == ::geteuid();
}

class Walk {
 public:
  Walk(const DirFd& root, const TreeVisitor& visitor) : root_(root), visitor_(visitor) {}
  // Ended early: the modes that were widened on the way down are given back.
  ~Walk() {
    while (!levels_.empty() && is_at(levels_.back())) {
      restore(levels_.back(), dir_);
      levels_.pop_back();
      dir_ = DirFd(::openat(dir_.get(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }
  }

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
    level.widened = std::exchange(widened_, {});
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
      auto below = open_below(name, *st);
      if (below.ok()) return open_level(std::move(below).value(), *st);
      if (below.error().code() != Code::not_found) {
        return std::move(below).error().add_context("walking " + printable(path_));
      }
    }
    path_.resize(path_length_);
    return {};
  }

  // Sets `widened` when the mode of the directory must be given back.
  Result<DirFd> open_below(const std::string& name, const struct stat& st) {
    widened_.reset();
    bool closed = (st.st_mode & 0500) != 0500 && visitor_.closed == Closed::open;
    if (!closed || !is_callers(st)) return open_dir_at(dir_, name);
    DirFd dir(PD_TRY(open_widened(dir_, name, O_RDONLY | O_DIRECTORY, st.st_mode | 0500)));
    widened_ = st.st_mode & 07777;
    return dir;
  }

  bool is_at(const Level& level) const {
    struct stat st {};
    return ::fstat(dir_.get(), &st) == 0 && st.st_dev == level.device && st.st_ino == level.inode;
  }

  static void restore(const Level& level, const DirFd& dir) {
    if (level.widened) ::fchmod(dir.get(), *level.widened);
  }

  Status close_level() {
    Level done = std::move(levels_.back());
    levels_.pop_back();
    if (levels_.empty()) return {};
    int up = ::openat(dir_.get(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (up < 0) return Error::from_errno(errno, "leaving " + printable(path_));
    restore(done, dir_);
    dir_ = DirFd(up);
    const Level& parent = levels_.back();
    if (!is_at(parent)) {
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
  std::optional<mode_t> widened_;  // of the directory that is about to be a level
  std::string path_;
  size_t path_length_ = 0;  // before the entry that is visited
};

}  // namespace

Result<Fd> open_closed_file_at(const DirFd& parent, const std::string& name, int flags) {
  struct stat st = PD_TRY(lstat_at(parent, name));
  flags |= O_NOFOLLOW | O_CLOEXEC;
  if (!S_ISREG(st.st_mode) || (st.st_mode & 0400) != 0 || !is_callers(st)) {
    Fd plain(::openat(parent.get(), name.c_str(), flags));
    if (plain.is_open()) return plain;
    return Error::from_errno(errno, "opening " + printable(name));
  }
  Fd file = PD_TRY(open_widened(parent, name, flags, st.st_mode | 0400));
  if (::fchmod(file.get(), st.st_mode & 07777) == 0) return file;
  return Error::from_errno(errno, "giving back the mode of " + printable(name));
}

Status walk_tree(const DirFd& root, const TreeVisitor& visitor) {
  return Walk(root, visitor).run();
}

}  // namespace paddock::sys
