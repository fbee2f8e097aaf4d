#include "sys/range_lock.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/strings.h"
#include "sys/files.h"
#include "sys/random.h"

namespace paddock::sys {

Result<LockedNumber> lock_free_number(const std::string& path, uint32_t count) {
  FileFd file = PD_TRY(open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  uint32_t start = 0;
  std::memcpy(&start, random_bytes(sizeof start).data(), sizeof start);
  for (uint32_t tried = 0; tried < count; ++tried) {
    uint32_t number = (start % count + tried) % count;
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = number;
    lock.l_len = 1;
    if (::fcntl(file.get(), F_OFD_SETLK, &lock) == 0) return LockedNumber{number, std::move(file)};
    if (errno != EAGAIN && errno != EACCES) return Error::from_errno(errno, "locking in " + path);
  }
  return Error(Code::resource_exhausted,
               fmt::format("all {} numbers of {} are in use", count, printable(path)));
}

}  // namespace paddock::sys
