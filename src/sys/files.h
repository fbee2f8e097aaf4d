// File system objects by directory descriptor and relative path. Everything here refuses to follow
// a symlink in the last component; walks below a DirFd that holds untrusted names go through
// open_beneath(), which follows none at all.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

// openat2(2) with RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS: the only way to
// open a path whose components somebody hostile may have written. `flags` as open(2); O_CLOEXEC is
// added. ELOOP (symlink met) and EXDEV (escape) come back as permission_denied.
Result<Fd> open_beneath(const DirFd& root, const std::string& path, int flags, mode_t mode = 0);

// Opens a directory by host path (trusted: symlinks in it are followed). O_PATH is not used.
Result<DirFd> open_dir(const std::string& path);
// Opens one directory below `parent`, following no symlink.
Result<DirFd> open_dir_at(const DirFd& parent, const std::string& path);
// Opens a host path (trusted).
Result<FileFd> open_file(const std::string& path, int flags, mode_t mode = 0);

// At most `limit` bytes; more is resource_exhausted.
Result<std::string> read_file(const std::string& path, size_t limit = 64u << 20);
Result<std::string> read_file_at(const DirFd& dir, const std::string& path,
                                 size_t limit = 64u << 20);
Result<std::string> read_all(const Fd& fd, size_t limit = 64u << 20);
Status write_all(const Fd& fd, std::string_view bytes);

// Writes a temporary beside `path`, syncs it, renames it over `path` and syncs the directory.
Status replace_file(const std::string& path, std::string_view bytes, mode_t mode);

Status make_dir(const std::string& path, mode_t mode);   // already there as a directory is success
Status make_dirs(const std::string& path, mode_t mode);  // with parents
// Removes a tree, however deep, without crossing mounts or following symlinks. A missing path is
// success.
Status remove_tree(const std::string& path);
// unavailable: `stop` became true before its end.
Status remove_tree(const std::string& path, const std::atomic<bool>& stop);
Status remove_tree_at(const DirFd& parent, const std::string& name);

Result<struct stat> stat_path(const std::string& path);  // follows symlinks
Result<struct stat> lstat_path(const std::string& path);
Result<struct stat> lstat_at(const DirFd& dir, const std::string& path);
bool exists(const std::string& path);  // lstat succeeds

Result<std::string> read_link_at(const DirFd& dir, const std::string& path);
Result<std::string> real_path(const std::string& path);  // realpath(3)

struct DirEntry {
  std::string name;    // never "." or ".."
  unsigned char type;  // DT_*; DT_UNKNOWN where the file system does not say
};
// All entries of an open directory, sorted by name (bytes).
Result<std::vector<DirEntry>> list_dir(const DirFd& dir);

}  // namespace paddock::sys
