// A file's new content, all of it or none.
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "agent/files/files.h"
#include "agent/files/frames.h"
#include "agent/files/upload_name.h"
#include "sys/files.h"
#include "sys/xattr.h"

namespace paddock::agent::files {
namespace {

// A file beside the target that becomes it, or goes.
class Temporary {
 public:
  static Result<Temporary> make(const std::string& target, Upload upload) {
    const size_t slash = target.find_last_of('/');
    std::string path = target.substr(0, slash + 1) + make_upload_name(upload);
    sys::FileFd file = PD_TRY(sys::open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0644));
    return Temporary(std::move(path), std::move(file));
  }
  Temporary(Temporary&& other) noexcept
      : path_(std::exchange(other.path_, {})), file_(std::move(other.file_)) {}
  ~Temporary() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  const sys::FileFd& file() const { return file_; }
  Status become(const std::string& target) {
    if (::rename(path_.c_str(), target.c_str()) != 0) {
      return Error::from_errno(errno, "writing the file");
    }
    path_.clear();
    return {};
  }

 private:
  Temporary(std::string path, sys::FileFd file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  sys::FileFd file_;
};

// Where the bytes go: a symlink is followed, here inside, as an editor does.
std::string resolve(const std::string& path) {
  char resolved[PATH_MAX];
  if (::realpath(path.c_str(), resolved) != nullptr) return resolved;
  std::array<char, PATH_MAX> link{};
  const ssize_t length = ::readlink(path.c_str(), link.data(), link.size() - 1);
  if (length <= 0) return path;
  std::string target(link.data(), static_cast<size_t>(length));  // leads to what does not exist yet
  if (target[0] == '/') return target;
  return path.substr(0, path.find_last_of('/') + 1) + target;
}

Status copy_frames(const sys::Fd& input, const sys::Fd& output) {
  while (true) {
    const uint32_t length = PD_TRY(read_frame_length(input));
    if (length == 0) return {};
    PD_TRY(copy(input, output, length));
  }
}

Status set_metadata(const sys::Fd& file, const std::vector<std::string>& metadata) {
  for (const std::string& pair : metadata) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos) return Error(Code::invalid_argument, "no metadata: " + pair);
    PD_TRY(sys::set_xattr(file, {"user.e2b." + pair.substr(0, equals), pair.substr(equals + 1)}));
  }
  return {};
}

// The metadata of an upload stands for all there is.
Status clear_metadata(const sys::Fd& file) {
  auto xattrs = sys::read_xattrs(file);
  if (!xattrs.ok()) return {};
  for (const sys::Xattr& xattr : *xattrs) {
    if (xattr.name.starts_with("user.e2b.")) PD_TRY(sys::remove_xattr(file, xattr.name));
  }
  return {};
}

// Devices, and files in directories where nothing can be made.
Status write_in_place(const WriteRequest& request, const std::string& target,
                      const struct stat& there, const sys::Fd& input) {
  int flags = O_CLOEXEC | O_NOCTTY;
  flags |= S_ISREG(there.st_mode) ? O_RDWR | O_TRUNC : O_WRONLY | O_NONBLOCK;
  sys::Fd file(::open(target.c_str(), flags));
  if (!file.is_open()) return Error::from_errno(errno, "writing the file");
  PD_TRY(copy_frames(input, file));
  if (!S_ISREG(there.st_mode)) return {};
  PD_TRY(clear_metadata(file));
  return set_metadata(file, request.metadata);
}

}  // namespace

Status write(const WriteRequest& request, const sys::Fd& input) {
  const std::string target = resolve(request.path);
  struct stat there {};
  const bool exists = ::stat(target.c_str(), &there) == 0;
  if (exists && S_ISDIR(there.st_mode)) return Error::from_errno(EISDIR, "writing the file");
  if (exists && !S_ISREG(there.st_mode)) return write_in_place(request, target, there, input);
  const size_t slash = target.find_last_of('/');
  if (slash != 0 && slash != std::string::npos) {
    PD_TRY(sys::make_dirs(target.substr(0, slash), 0755));
  }
  // A file with other names keeps them only when it stays the same file.
  if (exists && there.st_nlink > 1) return write_in_place(request, target, there, input);
  auto temporary = Temporary::make(target, exists ? Upload::to_present : Upload::to_new);
  if (!temporary.ok()) {
    if (!exists || temporary.error().code() == Code::resource_exhausted) {
      return std::move(temporary).error();
    }
    return write_in_place(request, target, there, input);
  }
  // Who may not write to the file may not put another in its place either.
  if (exists && ::access(target.c_str(), W_OK) != 0) {
    return Error::from_errno(errno, "writing the file");
  }
  PD_TRY(copy_frames(input, temporary->file()));
  PD_TRY(set_metadata(temporary->file(), request.metadata));
  if (exists && ::fchmod(temporary->file().get(), there.st_mode & 07777) != 0) {
    return Error::from_errno(errno, "writing the file");
  }
  return temporary->become(target);
}

}  // namespace paddock::agent::files
