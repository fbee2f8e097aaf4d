#include "engine/passing_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/strings.h"
#include "sys/files.h"

namespace paddock::engine {

Status write_passing_file(const model::HostPath& path, std::string_view bytes) {
  const auto failed = [&] { return Error::from_errno(errno, "writing " + printable(path.str())); };
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return failed();
  const sys::FileFd file =
      PD_TRY(sys::open_file(path.str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644));
  if (::fchmod(file.get(), 0644) != 0) return failed();  // whatever the umask
  return sys::write_all(file, bytes);
}

}  // namespace paddock::engine
