#include "isolation/container/mount_runner.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "sys/raw_calls.h"

// SAFETY: everything in this file runs between clone and exec. It reads the program, which the
// parent made, and calls the kernel; descriptors it leaves open are closed by exec.

namespace paddock::isolation::container {
namespace {

using sys::raw_open_beneath;

constexpr uint64_t kMaskAttributes =
    MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
constexpr const char* kRootName = "root";

// A new file system as a detached mount; -1 and errno on failure.
int make_file_system(const char* type, const FsOptions& options, unsigned attributes) {
  int context = ::fsopen(type, FSOPEN_CLOEXEC);
  if (context < 0) return -1;
  for (const auto& [key, value] : options) {
    if (::fsconfig(context, FSCONFIG_SET_STRING, key.c_str(), value.c_str(), 0) != 0) return -1;
  }
  if (::fsconfig(context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) return -1;
  int mount = ::fsmount(context, FSMOUNT_CLOEXEC, attributes);
  ::close(context);
  return mount;
}

int attach(int mount, int target) {
  int done = ::move_mount(mount, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
  int error = errno;
  ::close(mount);
  ::close(target);
  errno = error;
  return done;
}

int make_node(int parent, const char* name, Node node) {
  if (node == Node::directory) return ::mkdirat(parent, name, 0755);
  int fd = ::openat(parent, name, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0644);
  if (fd >= 0) ::close(fd);
  return fd < 0 ? -1 : 0;
}

// Walks below `root` one component at a time, making what is missing, following no symlink.
int open_or_make(int root, const char* path, Node last) {
  char name[NAME_MAX + 1];
  int at = ::fcntl(root, F_DUPFD_CLOEXEC, 0);
  while (at >= 0 && *path != '\0') {
    const char* slash = ::strchrnul(path, '/');
    auto length = static_cast<size_t>(slash - path);
    if (length > NAME_MAX) {
      errno = ENAMETOOLONG;
      return -1;
    }
    ::memcpy(name, path, length);
    name[length] = '\0';
    int next = raw_open_beneath(at, name, O_PATH);
    if (next < 0 && errno == ENOENT) {
      if (make_node(at, name, *slash == '\0' ? last : Node::directory) != 0) return -1;
      next = raw_open_beneath(at, name, O_PATH);
    }
    ::close(at);
    at = next;
    path = *slash == '\0' ? slash : slash + 1;
  }
  return at;
}

// One method per step: 0, or -1 and errno.
class Runner {
 public:
  int scratch() const { return scratch_; }

  int operator()(const step::MountScratch& s) {
    scratch_ = make_file_system("tmpfs", s.options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    if (scratch_ < 0) return -1;
    // Over `/`: our root stays the mount below, so host paths still mean the host's tree.
    if (::move_mount(scratch_, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) != 0) return -1;
    return ::fchdir(scratch_);
  }

  int operator()(const step::ScratchDirectory& s) {
    if (::mkdirat(scratch_, s.name.c_str(), s.mode) != 0) return -1;
    if (s.owner == 0) return 0;
    return ::fchownat(scratch_, s.name.c_str(), s.owner, s.owner, AT_SYMLINK_NOFOLLOW);
  }

  int operator()(const step::ScratchFile& s) {
    int fd = ::openat(scratch_, s.name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, s.mode);
    if (fd >= 0) ::close(fd);
    return fd < 0 ? -1 : 0;
  }

  int operator()(const step::NameLayer& s) {
    if (s.source.fd < 0) return ::symlinkat(s.source.path.c_str(), scratch_, s.name.c_str());
    if (::mkdirat(scratch_, s.name.c_str(), 0755) != 0) return -1;
    return ::move_mount(s.source.fd, "", scratch_, s.name.c_str(), MOVE_MOUNT_F_EMPTY_PATH);
  }

  int operator()(const step::ScratchSymlink& s) {
    return ::symlinkat(s.target.c_str(), scratch_, s.name.c_str());
  }

  int operator()(const step::MountRoot& s) {
    int mount = make_file_system("tmpfs", s.options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    return mount < 0 ? -1 : become_root(mount);
  }

  int operator()(const step::MountOverlay& s) {
    if (::mkdirat(scratch_, s.name.c_str(), 0755) != 0) return -1;
    // mount(2), not fsconfig(2): its strings end at 255 bytes, which 500 layers exceed. Relative to
    // the working directory, the scratch.
    if (::mount("overlay", s.name.c_str(), "overlay", MS_NOSUID | MS_NODEV, s.options.c_str()) !=
        0) {
      return -1;
    }
    if (s.at.path.empty()) {
      root_ = ::openat(scratch_, s.name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
      return root_ < 0 ? -1 : 0;
    }
    int target = open_target(s.at);
    if (target < 0) return -1;
    int mount = ::open_tree(scratch_, s.name.c_str(), OPEN_TREE_CLOEXEC);
    return mount < 0 ? -1 : attach(mount, target);
  }

  int operator()(const step::BindTree& s) {
    int mount = s.source.fd;
    if (mount < 0) {
      mount = clone(AT_FDCWD, s.source.path.c_str(), AT_RECURSIVE, s.attributes);
      if (mount < 0) return -1;
    }
    if (s.at.path.empty()) return become_root(mount);
    int target = open_target(s.at);
    return target < 0 ? -1 : attach(mount, target);
  }

  int operator()(const step::BindScratch& s) {
    int mount = clone(scratch_, s.name.c_str(), 0, s.attributes);
    if (mount < 0) return -1;
    int target = open_target(s.at);
    return target < 0 ? -1 : attach(mount, target);
  }

  int operator()(const step::MountFileSystem& s) {
    int mount = make_file_system(s.type.c_str(), s.options, static_cast<unsigned>(s.attributes));
    if (mount < 0) return -1;
    int target = open_target(s.at);
    return target < 0 ? -1 : attach(mount, target);
  }

  int operator()(const step::BindDevice& s) {
    int mount = ::open_tree(AT_FDCWD, s.source.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (mount < 0) return -1;
    struct stat st {};
    if (::fstat(mount, &st) != 0) return -1;
    if (!S_ISCHR(st.st_mode) || st.st_rdev != s.device) {
      errno = ENODEV;
      return -1;
    }
    int target = open_target(s.at);
    return target < 0 ? -1 : attach(mount, target);
  }

  int operator()(const step::MakeSymlink& s) {
    const char* path = s.at.path.c_str();
    const char* slash = ::strrchr(path, '/');
    int parent = slash == nullptr ? ::fcntl(root_, F_DUPFD_CLOEXEC, 0) : open_parent(path, slash);
    if (parent < 0) return -1;
    const char* name = slash == nullptr ? path : slash + 1;
    int done = ::symlinkat(s.target.c_str(), parent, name);
    if (done != 0 && errno == EEXIST && is_symlink_to(parent, name, s.target)) done = 0;
    int error = errno;
    ::close(parent);
    errno = error;
    return done;
  }

  int operator()(const step::Mask& s) {
    // O_NOFOLLOW: a symlink is covered itself.
    int target = raw_open_beneath(root_, s.path.c_str(), O_PATH | O_NOFOLLOW);
    if (target < 0) return errno == ENOENT ? 0 : -1;
    struct stat st {};
    if (::fstat(target, &st) != 0) return -1;
    // Our own inodes on our own tmpfs: nothing that an image could have put in their place.
    const char* cover = S_ISDIR(st.st_mode) ? kMaskDirectory : kMaskFile;
    int mount = clone(scratch_, cover, 0, kMaskAttributes);
    return mount < 0 ? -1 : attach(mount, target);
  }

  int operator()(const step::MakeReadOnly& s) {
    int target = raw_open_beneath(root_, s.path.c_str(), O_PATH);
    if (target < 0) return errno == ENOENT ? 0 : -1;
    int mount = ::open_tree(target, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (mount < 0) return -1;
    if (sys::raw_set_mount_attributes(mount, kMaskAttributes, 0) != 0) return -1;
    return attach(mount, target);
  }

  int operator()(const step::SealRoot&) {
    return sys::raw_set_mount_attributes(root_, MOUNT_ATTR_RDONLY, 0);
  }

  int operator()(const step::EnterRoot&) {
    // pivot_root(2), "pivot_root(".", ".")": the old root ends up over the new one. On top of the
    // old root lies the scratch file system, so two unmounts: the first takes the upper one.
    int old_root = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (old_root < 0) return -1;
    if (::fchdir(root_) != 0 || sys::raw_pivot_root(".", ".") != 0) return -1;
    if (::fchdir(old_root) != 0) return -1;
    if (::umount2(".", MNT_DETACH) != 0 || ::umount2(".", MNT_DETACH) != 0) return -1;
    ::close(old_root);
    if (!is_top_of_everything()) {
      errno = EXDEV;
      return -1;
    }
    return ::chdir("/");
  }

 private:
  static int clone(int dir, const char* path, unsigned recursive, uint64_t attributes) {
    int mount = ::open_tree(dir, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | recursive);
    if (mount < 0) return -1;
    return sys::raw_set_mount_attributes(mount, attributes, recursive) == 0 ? mount : -1;
  }

  // Were anything of the host left above the root, `/..` would lead to it.
  static bool is_top_of_everything() {
    struct stat root {
    }, above{};
    return ::stat("/", &root) == 0 && ::stat("/..", &above) == 0 && root.st_dev == above.st_dev &&
           root.st_ino == above.st_ino;
  }

  int become_root(int mount) {
    if (::mkdirat(scratch_, kRootName, 0755) != 0) return -1;
    if (::move_mount(mount, "", scratch_, kRootName, MOVE_MOUNT_F_EMPTY_PATH) != 0) return -1;
    root_ = mount;
    return 0;
  }

  int open_target(const Target& at) {
    int target = raw_open_beneath(root_, at.path.c_str(), O_PATH);
    if (target >= 0 || errno != ENOENT || at.missing == Missing::refuse) return target;
    return open_or_make(root_, at.path.c_str(), at.node);
  }

  int open_parent(const char* path, const char* slash) {
    char parent[PATH_MAX];
    auto length = static_cast<size_t>(slash - path);
    if (length >= sizeof parent) {
      errno = ENAMETOOLONG;
      return -1;
    }
    ::memcpy(parent, path, length);
    parent[length] = '\0';
    return open_or_make(root_, parent, Node::directory);
  }

  static bool is_symlink_to(int parent, const char* name, const std::string& target) {
    char found[PATH_MAX];
    ssize_t length = ::readlinkat(parent, name, found, sizeof found);
    return length >= 0 && static_cast<size_t>(length) == target.size() &&
           ::memcmp(found, target.data(), target.size()) == 0;
  }

  int scratch_ = -1;
  int root_ = -1;
};

}  // namespace

MountRunResult run_mount_program(const MountProgram& program) {
  Runner runner;
  for (uint32_t index = 0; index < program.size(); ++index) {
    if (std::visit(runner, program[index]) != 0) return {index, errno, -1};
  }
  return {0, 0, runner.scratch()};
}

}  // namespace paddock::isolation::container
