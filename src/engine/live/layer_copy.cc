#include "engine/live/layer_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <string>
#include <utility>

#include "base/strings.h"
#include "sys/copy.h"
#include "sys/files.h"
#include "sys/tree_walk.h"
#include "sys/xattr.h"

namespace paddock::engine {
namespace {

using model::HostPath;

Error fail(const char* what, const std::string& path) {
  return Error::from_errno(errno, std::string(what) + " " + printable(path));
}

// One upper. Everything here was made by somebody hostile, who stands still: no symlink is
// followed, and what is written lies in directories that nobody else can enter.
class TreeCopy {
 public:
  TreeCopy(const sys::DirFd& from, const sys::DirFd& to) : from_(from), to_(to) {}

  Status run() {
    sys::TreeVisitor visitor;
    visitor.closed = sys::Closed::open;
    visitor.enter = [&](const sys::WalkEntry& entry) -> Result<sys::Descend> {
      if (S_ISDIR(entry.st.st_mode)) {
        if (::mkdirat(to_.get(), entry.path.c_str(), 0700) != 0) return fail("copying", entry.path);
        return sys::Descend::yes;
      }
      PD_TRY(copy_entry(entry));
      return sys::Descend::no;
    };
    // A directory's times and mode are given once nothing is put into it any more.
    visitor.leave = [&](const sys::WalkEntry& entry) -> Status {
      const sys::DirFd source = PD_TRY(open_dir_of(entry));
      const sys::DirFd copy = PD_TRY(sys::open_dir_at(to_, entry.path));
      return give_attributes(source, copy, entry.st, entry.path);
    };
    PD_TRY(sys::walk_tree(from_, visitor));
    struct stat st {};
    if (::fstat(from_.get(), &st) != 0) return fail("examining", ".");
    return give_attributes(from_, to_, st, ".");
  }

 private:
  static Result<sys::DirFd> open_dir_of(const sys::WalkEntry& entry) {
    return sys::open_dir_at(entry.parent, entry.name);
  }

  Status copy_entry(const sys::WalkEntry& entry) {
    if (entry.st.st_nlink > 1 && !S_ISSOCK(entry.st.st_mode)) {
      const auto key = std::pair(entry.st.st_dev, entry.st.st_ino);
      const auto [first, is_first] = links_.emplace(key, entry.path);
      if (!is_first) {
        if (::linkat(to_.get(), first->second.c_str(), to_.get(), entry.path.c_str(), 0) == 0) {
          return {};
        }
        return fail("linking", entry.path);
      }
    }
    if (S_ISREG(entry.st.st_mode)) return copy_file(entry);
    if (S_ISLNK(entry.st.st_mode)) return copy_symlink(entry);
    if (S_ISSOCK(entry.st.st_mode)) return {};
    return copy_node(entry);
  }

  Status copy_file(const sys::WalkEntry& entry) {
    const sys::Fd source =
        PD_TRY(sys::open_closed_file_at(entry.parent, entry.name, O_RDONLY | O_NOATIME));
    const sys::Fd copy(::openat(to_.get(), entry.path.c_str(),
                                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!copy.is_open()) return fail("copying", entry.path);
    PD_TRY_CTX("copying " + printable(entry.path), sys::copy_contents(source, copy));
    return give_attributes(source, copy, entry.st, entry.path);
  }

  Status copy_symlink(const sys::WalkEntry& entry) {
    const std::string target = PD_TRY(sys::read_link_at(entry.parent, entry.name));
    if (::symlinkat(target.c_str(), to_.get(), entry.path.c_str()) != 0) {
      return fail("copying", entry.path);
    }
    return give_owner_and_times(entry);
  }

  // Whiteouts (character device 0:0) and FIFOs; others a sandbox cannot make.
  Status copy_node(const sys::WalkEntry& entry) {
    const bool is_whiteout = S_ISCHR(entry.st.st_mode) && entry.st.st_rdev == 0;
    if (!is_whiteout && !S_ISFIFO(entry.st.st_mode)) return {};
    if (::mknodat(to_.get(), entry.path.c_str(), entry.st.st_mode & ~mode_t{0077}, 0) != 0) {
      return fail("copying", entry.path);
    }
    PD_TRY(give_owner_and_times(entry));
    if (is_whiteout) return {};
    if (::fchmodat(to_.get(), entry.path.c_str(), entry.st.st_mode & 07777, 0) == 0) return {};
    return fail("copying", entry.path);
  }

  Status give_owner_and_times(const sys::WalkEntry& entry) {
    const std::array times{entry.st.st_atim, entry.st.st_mtim};
    if (!is_ours(entry.st) && ::fchownat(to_.get(), entry.path.c_str(), entry.st.st_uid,
                                         entry.st.st_gid, AT_SYMLINK_NOFOLLOW) != 0) {
      return fail("giving an owner to", entry.path);
    }
    if (::utimensat(to_.get(), entry.path.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) == 0) {
      return {};
    }
    return fail("giving times to", entry.path);
  }

  // The owner first: a change of it takes set-id bits and capabilities away.
  static Status give_attributes(const sys::Fd& source, const sys::Fd& copy, const struct stat& st,
                                const std::string& path) {
    if (!is_ours(st) && ::fchown(copy.get(), st.st_uid, st.st_gid) != 0) {
      return fail("giving an owner to", path);
    }
    for (const sys::Xattr& xattr : PD_TRY(sys::read_xattrs(source))) {
      PD_TRY_CTX("copying " + printable(path), sys::set_xattr(copy, xattr));
    }
    const std::array times{st.st_atim, st.st_mtim};
    if (::fchmod(copy.get(), st.st_mode & 07777) != 0 ||
        ::futimens(copy.get(), times.data()) != 0) {
      return fail("giving a mode to", path);
    }
    return {};
  }

  static bool is_ours(const struct stat& st) {
    return st.st_uid == ::geteuid() && st.st_gid == ::getegid();
  }

  const sys::DirFd& from_;
  const sys::DirFd& to_;
  std::map<std::pair<dev_t, ino_t>, std::string> links_;
};

Status copy_place(const HostPath& from, const HostPath& to) {
  PD_TRY(sys::make_dir(to.str(), 0700));
  PD_TRY(sys::make_dir((to / "fs").str(), 0700));
  const sys::DirFd source = PD_TRY(sys::open_dir((from / "fs").str()));
  const sys::DirFd copy = PD_TRY(sys::open_dir((to / "fs").str()));
  return TreeCopy(source, copy).run();
}

}  // namespace

Status copy_layer(const HostPath& from, const HostPath& to) {
  const sys::DirFd layer = PD_TRY(sys::open_dir(from.str()));
  for (const sys::DirEntry& place : PD_TRY(sys::list_dir(layer))) {
    if (!sys::exists((from / place.name / "fs").str())) continue;
    PD_TRY_CTX("copying what was written below " + place.name,
               copy_place(from / place.name, to / place.name));
  }
  return {};
}

}  // namespace paddock::engine
