#include "view/changes/change_object.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "sys/files.h"
#include "sys/xattr.h"

namespace paddock::view {
namespace {

using model::FileType;

constexpr std::string_view kUserPrefix = "user.";
constexpr std::string_view kOverlayPrefix = "user.overlay.";
constexpr int kOpenFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
constexpr int kAttempts = 4;  // somebody may exchange the object between looking and opening

struct Look {
  Object object;
  dev_t device = 0;                 // of a device node
  mode_t format = 0;                // S_IFMT bits
  std::vector<sys::Xattr> overlay;  // overlayfs' own attributes, without their prefix
};

FileType type_of(mode_t mode) {
  if (S_ISREG(mode)) return FileType::regular;
  if (S_ISDIR(mode)) return FileType::directory;
  return S_ISLNK(mode) ? FileType::symlink : FileType::other;
}

int64_t nanoseconds(const struct timespec& time) {
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

Look from_stat(const struct stat& st) {
  Look look;
  Object& object = look.object;
  object.state.type = type_of(st.st_mode);
  object.state.mode = S_ISLNK(st.st_mode) ? 0 : st.st_mode & 07777;
  object.state.size = S_ISREG(st.st_mode) ? static_cast<uint64_t>(st.st_size) : 0;
  object.ino = st.st_ino;
  object.links = st.st_nlink;
  object.uid = st.st_uid;
  object.gid = st.st_gid;
  object.mtime_ns = nanoseconds(st.st_mtim);
  object.ctime_ns = nanoseconds(st.st_ctim);
  look.device = st.st_rdev;
  look.format = st.st_mode & S_IFMT;
  return look;
}

bool has_prefix(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

Result<Look> look_at_open(const sys::Fd& fd) {
  struct stat st {};
  if (::fstat(fd.get(), &st) != 0) return Error::from_errno(errno, "examining an open file");
  Look look = from_stat(st);
  for (sys::Xattr& xattr : PD_TRY(sys::read_xattrs(fd))) {
    if (has_prefix(xattr.name, kOverlayPrefix)) {
      look.overlay.push_back({xattr.name.substr(kOverlayPrefix.size()), std::move(xattr.value)});
    } else if (has_prefix(xattr.name, kUserPrefix)) {
      look.object.state.xattrs.emplace(std::move(xattr.name), std::move(xattr.value));
    }
  }
  return look;
}

enum class Opened { yes, changed };

// Looks again through a descriptor of the object itself, which attributes need.
Result<Opened> look_by_opening(const sys::DirFd& dir, const std::string& name, Look& look) {
  int flags = kOpenFlags | (look.object.is(FileType::directory) ? O_DIRECTORY : 0);
  Result<sys::Fd> fd = sys::open_beneath(dir, name, flags);
  if (!fd.ok()) {
    int error = fd.error().errno_value();
    if (error == EACCES || error == EPERM) {
      look.object.readable = false;
      return Opened::yes;
    }
    // 0: open_beneath met a symlink.
    bool changed = error == ENOENT || error == ENOTDIR || error == ENXIO || error == 0;
    if (changed) return Opened::changed;
    return std::move(fd).error();
  }
  FileType expected = look.object.state.type;
  look = PD_TRY(look_at_open(*fd));
  // A directory that may be listed but not searched is of no use either.
  if (look.object.is(FileType::directory) && ::faccessat(fd->get(), ".", X_OK, AT_EACCESS) != 0) {
    look.object.readable = false;
  }
  return look.object.is(expected) ? Opened::yes : Opened::changed;
}

Result<Look> look_at(const sys::DirFd& dir, const std::string& name) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    struct stat st {};
    if (::fstatat(dir.get(), name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return Look();
      return Error::from_errno(errno, "examining " + printable(name));
    }
    Look look = from_stat(st);
    if (look.object.is(FileType::other)) return look;
    if (look.object.is(FileType::symlink)) {
      Result<std::string> target = sys::read_link_at(dir, name);
      if (!target.ok()) continue;
      look.object.state.target = std::move(*target);
      return look;
    }
    if (PD_TRY(look_by_opening(dir, name, look)) == Opened::yes) return look;
  }
  return Error(Code::unavailable, fmt::format("{} keeps changing", printable(name)));
}

}  // namespace

Result<Object> examine(const sys::DirFd& dir, const std::string& name) {
  return PD_TRY(look_at(dir, name)).object;
}

Result<Object> examine_open(const sys::Fd& fd) {
  return PD_TRY(look_at_open(fd)).object;
}

Result<LayerObject> examine_layer(const sys::DirFd& dir, const std::string& name) {
  Look look = PD_TRY(look_at(dir, name));
  LayerObject found;
  found.whiteout = look.format == S_IFCHR && look.device == makedev(0, 0);
  for (const sys::Xattr& xattr : look.overlay) {
    if (xattr.name == "opaque" && xattr.value == "y") {
      found.opaque = true;
    } else if (xattr.name == "origin") {
      found.copied_up = true;
    } else if (xattr.name == "opaque" || xattr.name == "redirect" || xattr.name == "metacopy" ||
               xattr.name == "whiteout") {
      return Error(Code::data_corrupt,
                   fmt::format("{}: the layer needs overlay {}, which no view is mounted with",
                               printable(name), xattr.name));
    }
  }
  found.object = std::move(look.object);
  return found;
}

Result<sys::FileFd> open_regular(const sys::DirFd& dir, const std::string& path) {
  sys::FileFd fd(PD_TRY(sys::open_beneath(dir, path, kOpenFlags)));
  struct stat st {};
  if (::fstat(fd.get(), &st) != 0) return Error::from_errno(errno, "examining " + printable(path));
  if (S_ISREG(st.st_mode)) return fd;
  return Error(Code::failed_precondition,
               fmt::format("{} is not a regular file any more", printable(path)));
}

bool same_but_bytes(const model::FileState& a, const model::FileState& b) {
  return a.type == b.type && (a.mode & 0777) == (b.mode & 0777) && a.target == b.target &&
         a.xattrs == b.xattrs;
}

}  // namespace paddock::view
