#include "sys/machine.h"

#include <fcntl.h>
#include <linux/random.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "sys/files.h"

namespace paddock::sys {

Status add_entropy(std::string_view bytes) {
  const FileFd pool = PD_TRY(open_file("/dev/urandom", O_WRONLY));
  std::vector<char> buffer(sizeof(rand_pool_info) + bytes.size());
  const rand_pool_info head{.entropy_count = static_cast<int>(bytes.size() * 8),
                            .buf_size = static_cast<int>(bytes.size())};
  std::memcpy(buffer.data(), &head, sizeof head);
  std::memcpy(buffer.data() + sizeof head, bytes.data(), bytes.size());
  if (::ioctl(pool.get(), RNDADDENTROPY, buffer.data()) != 0 ||
      ::ioctl(pool.get(), RNDRESEEDCRNG) != 0) {
    return Error::from_errno(errno, "adding entropy");
  }
  return {};
}

Status set_wall_clock(int64_t since_epoch_ns) {
  const struct timespec time {
    .tv_sec = since_epoch_ns / 1'000'000'000, .tv_nsec = since_epoch_ns % 1'000'000'000
  };
  if (::clock_settime(CLOCK_REALTIME, &time) != 0) {
    return Error::from_errno(errno, "setting the clock");
  }
  return {};
}

Status load_module(const std::string& path, const std::string& parameters) {
  const FileFd file = PD_TRY(open_file(path, O_RDONLY));
  // SAFETY: the parameters outlive the call.
  if (::syscall(SYS_finit_module, file.get(), parameters.c_str(), 0) != 0 && errno != EEXIST) {
    return Error::from_errno(errno, "loading module " + path);
  }
  return {};
}

Status mount_pseudo(const PseudoMount& mount) {
  PD_TRY(make_dir(mount.target, 0755));
  if (::mount(mount.type, mount.target, mount.type, mount.flags, mount.options) != 0 &&
      errno != EBUSY) {
    return Error::from_errno(errno, std::string("mounting ") + mount.target);
  }
  return {};
}

}  // namespace paddock::sys
