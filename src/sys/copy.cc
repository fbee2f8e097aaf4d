#include "sys/copy.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace paddock::sys {
namespace {

constexpr size_t kChunk = 1u << 20;

// What a file system answers that has no shared blocks, or none between these two files.
bool cannot_share(int error) {
  return error == EOPNOTSUPP || error == ENOTTY || error == EXDEV || error == EINVAL ||
         error == ENOSYS || error == ETXTBSY || error == EPERM;
}

Status copy_by_buffer(const Fd& from, const Fd& to, off_t at, off_t end) {
  std::array<char, 65536> buffer;
  while (at < end) {
    size_t want = std::min<size_t>(buffer.size(), static_cast<size_t>(end - at));
    ssize_t got = ::pread(from.get(), buffer.data(), want, at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno(errno, "reading a file to copy");
    if (got == 0) return {};
    for (ssize_t done = 0; done < got;) {
      ssize_t n =
          ::pwrite(to.get(), buffer.data() + done, static_cast<size_t>(got - done), at + done);
      if (n < 0 && errno != EINTR) return Error::from_errno(errno, "writing a copy");
      if (n > 0) done += n;
    }
    at += got;
  }
  return {};
}

Status copy_data(const Fd& from, const Fd& to, off_t at, off_t end) {
  while (at < end) {
    off_t in = at, out = at;
    size_t want = std::min<size_t>(kChunk, static_cast<size_t>(end - at));
    ssize_t n = ::copy_file_range(from.get(), &in, to.get(), &out, want, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && cannot_share(errno)) return copy_by_buffer(from, to, at, end);
    if (n < 0) return Error::from_errno(errno, "copying a file");
    if (n == 0) return {};
    at += n;
  }
  return {};
}

}  // namespace

Status copy_contents(const Fd& from, const Fd& to) {
  if (::ioctl(to.get(), FICLONE, from.get()) == 0) return {};
  if (!cannot_share(errno)) return Error::from_errno(errno, "cloning a file");
  struct stat st {};
  if (::fstat(from.get(), &st) != 0) return Error::from_errno(errno, "examining a file to copy");
  for (off_t at = 0; at < st.st_size;) {
    off_t data = ::lseek(from.get(), at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;  // only a hole is left
    if (data < 0) data = at;
    off_t hole = ::lseek(from.get(), data, SEEK_HOLE);
    if (hole < 0) hole = st.st_size;
    PD_TRY(copy_data(from, to, data, std::min(hole, st.st_size)));
    at = hole;
  }
  if (::ftruncate(to.get(), st.st_size) != 0) return Error::from_errno(errno, "sizing a copy");
  return {};
}

Result<Cloned> clone_into(const Fd& from, const Fd& to, uint64_t offset) {
  struct file_clone_range range {};
  range.src_fd = from.get();
  range.dest_offset = offset;
  if (::ioctl(to.get(), FICLONERANGE, &range) == 0) return Cloned::yes;
  if (cannot_share(errno)) return Cloned::no;
  return Error::from_errno(errno, "cloning into a file");
}

}  // namespace paddock::sys
