#include "sys/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/strings.h"

namespace paddock::sys {
namespace {

Error fail(const char* action, std::string_view path) {
  return Error::from_errno(errno, fmt::format("{} {}", action, printable(path)));
}

template <typename Call>
auto retry_eintr(Call call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

std::string parent_of(const std::string& path) {
  size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

Result<Fd> open_beneath(const DirFd& root, const std::string& path, int flags, mode_t mode) {
  struct open_how how {};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  // SAFETY: openat2 has no libc wrapper in Debian 12; `how` outlives the call.
  long fd =
      retry_eintr([&] { return syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof how); });
  if (fd >= 0) return Fd(static_cast<int>(fd));
  if (errno == ELOOP || errno == EXDEV) {
    return Error(
        Code::permission_denied,
        fmt::format("opening {}: the path leaves its root or meets a symlink", printable(path)));
  }
  return fail("opening", path);
}

Result<DirFd> open_dir(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return fail("opening directory", path);
  return DirFd(fd);
}

Result<DirFd> open_dir_at(const DirFd& parent, const std::string& path) {
  return DirFd(PD_TRY(open_beneath(parent, path, O_RDONLY | O_DIRECTORY)));
}

Result<FileFd> open_file(const std::string& path, int flags, mode_t mode) {
  int fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  if (fd < 0) return fail("opening", path);
  return FileFd(fd);
}

Result<std::string> read_all(const Fd& fd, size_t limit) {
  std::string out;
  char buffer[65536];
  while (true) {
    ssize_t n = retry_eintr([&] { return ::read(fd.get(), buffer, sizeof buffer); });
    if (n < 0) return fail("reading", fmt::format("descriptor {}", fd.get()));
    if (n == 0) return out;
    out.append(buffer, static_cast<size_t>(n));
    if (out.size() > limit) {
      return Error(Code::resource_exhausted, fmt::format("more than {} bytes to read", limit));
    }
  }
}

Result<std::string> read_file(const std::string& path, size_t limit) {
  FileFd fd = PD_TRY(open_file(path, O_RDONLY));
  return read_all(fd, limit).with_context("reading " + printable(path));
}

Result<std::string> read_file_at(const DirFd& dir, const std::string& path, size_t limit) {
  Fd fd = PD_TRY(open_beneath(dir, path, O_RDONLY | O_NONBLOCK));
  return read_all(fd, limit).with_context("reading " + printable(path));
}

Status write_all(const Fd& fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = retry_eintr([&] { return ::write(fd.get(), bytes.data(), bytes.size()); });
    if (n < 0) return fail("writing", fmt::format("descriptor {}", fd.get()));
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Status replace_file(const std::string& path, std::string_view bytes, mode_t mode) {
  std::string temporary = path + ".tmp-XXXXXX";
  int raw = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (raw < 0) return fail("creating a temporary file for", path);
  FileFd fd(raw);
  auto write = [&]() -> Status {
    PD_TRY(write_all(fd, bytes));
    if (::fchmod(fd.get(), mode) != 0 || ::fsync(fd.get()) != 0) return fail("writing", temporary);
    if (::rename(temporary.c_str(), path.c_str()) != 0) return fail("replacing", path);
    return {};
  };
  if (Status written = write(); !written.ok()) {
    ::unlink(temporary.c_str());
    return written;
  }
  DirFd dir = PD_TRY(open_dir(parent_of(path)));
  if (::fsync(dir.get()) != 0) return fail("syncing", parent_of(path));
  return {};
}

Status make_dir(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) == 0) return {};
  int error = errno;
  struct stat st {};
  if (error == EEXIST && ::stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode)) return {};
  errno = error;
  return fail("creating directory", path);
}

Status make_dirs(const std::string& path, mode_t mode) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    std::string parent = path.substr(0, at);
    if (!exists(parent)) PD_TRY(make_dir(parent, mode));
  }
  return make_dir(path, mode);
}

Result<struct stat> stat_path(const std::string& path) {
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0) return fail("examining", path);
  return st;
}

Result<struct stat> lstat_path(const std::string& path) {
  struct stat st {};
  if (::lstat(path.c_str(), &st) != 0) return fail("examining", path);
  return st;
}

Result<struct stat> lstat_at(const DirFd& dir, const std::string& path) {
  struct stat st {};
  if (::fstatat(dir.get(), path.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0)
    return fail("examining", path);
  return st;
}

bool exists(const std::string& path) {
  struct stat st {};
  return ::lstat(path.c_str(), &st) == 0;
}

Result<std::string> read_link_at(const DirFd& dir, const std::string& path) {
  std::string target(PATH_MAX, '\0');
  ssize_t n = ::readlinkat(dir.get(), path.c_str(), target.data(), target.size());
  if (n < 0) return fail("reading link", path);
  target.resize(static_cast<size_t>(n));
  return target;
}

Result<std::string> real_path(const std::string& path) {
  std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  if (!real) return fail("resolving", path);
  return std::string(real.get());
}

Result<std::vector<DirEntry>> list_dir(const DirFd& dir) {
  // A descriptor of its own, so that the caller's offset stays and may be listed again.
  int raw = ::openat(dir.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (raw < 0) return fail("listing", "directory");
  struct CloseDir {
    void operator()(DIR* open) const { ::closedir(open); }
  };
  std::unique_ptr<DIR, CloseDir> stream(::fdopendir(raw));
  if (!stream) {
    ::close(raw);
    return fail("listing", "directory");
  }
  std::vector<DirEntry> entries;
  errno = 0;
  while (struct dirent* entry = ::readdir(stream.get())) {
    std::string_view name = entry->d_name;
    if (name != "." && name != "..") entries.push_back({std::string(name), entry->d_type});
    errno = 0;
  }
  if (errno != 0) return fail("listing", "directory");
  std::sort(entries.begin(), entries.end(),
            [](const DirEntry& a, const DirEntry& b) { return a.name < b.name; });
  return entries;
}

}  // namespace paddock::sys
