#include "sys/xattr.h"

#include <fmt/core.h>
#include <sys/xattr.h>

#include <algorithm>
#include <cerrno>

#include "base/strings.h"

namespace paddock::sys {
namespace {

constexpr int kAttempts = 8;  // somebody may add attributes between asking the size and reading

Error xattr_error(const char* action, const std::string& name) {
  return Error::from_errno(errno, fmt::format("{} extended attribute {}", action, printable(name)));
}

// Calls `read(buffer, size)` with a buffer that is large enough by the time it is filled.
template <typename Read>
ssize_t read_growing(std::string& buffer, Read read) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    ssize_t size = read(nullptr, 0);
    if (size <= 0) return size;
    buffer.resize(static_cast<size_t>(size));
    ssize_t got = read(buffer.data(), buffer.size());
    if (got >= 0 || errno != ERANGE) return got;
  }
  return -1;
}

}  // namespace

Result<std::vector<Xattr>> read_xattrs(const Fd& fd) {
  std::string names;
  ssize_t size =
      read_growing(names, [&](char* to, size_t room) { return ::flistxattr(fd.get(), to, room); });
  if (size < 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) return std::vector<Xattr>();
  if (size < 0) return Error::from_errno(errno, "listing extended attributes");
  names.resize(static_cast<size_t>(size));
  std::vector<Xattr> xattrs;
  for (const std::string& name : split(names, '\0')) {
    if (name.empty()) continue;
    std::string value;
    ssize_t length = read_growing(value, [&](char* to, size_t room) {
      return ::fgetxattr(fd.get(), name.c_str(), to, room);
    });
    // Gone meanwhile, or one whose value this process may not see.
    if (length < 0 && (errno == ENODATA || errno == EPERM || errno == EACCES)) continue;
    if (length < 0) return xattr_error("reading", name);
    value.resize(static_cast<size_t>(length));
    xattrs.push_back({name, std::move(value)});
  }
  std::sort(xattrs.begin(), xattrs.end());
  return xattrs;
}

Status set_xattr(const Fd& fd, const Xattr& xattr) {
  if (::fsetxattr(fd.get(), xattr.name.c_str(), xattr.value.data(), xattr.value.size(), 0) == 0)
    return {};
  return xattr_error("setting", xattr.name);
}

Status remove_xattr(const Fd& fd, const std::string& name) {
  if (::fremovexattr(fd.get(), name.c_str()) == 0 || errno == ENODATA) return {};
  return xattr_error("removing", name);
}

}  // namespace paddock::sys
