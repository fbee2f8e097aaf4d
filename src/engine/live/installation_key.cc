#include "engine/live/installation_key.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/strings.h"
#include "sys/files.h"
#include "sys/random.h"

namespace paddock::engine {
namespace {

constexpr size_t kBytes = 32;

Result<std::string> read_key(const std::string& path) {
  const auto info = PD_TRY(sys::lstat_path(path));
  if (!S_ISREG(info.st_mode) || (info.st_mode & 077) != 0) {
    return Error(Code::permission_denied, printable(path) + " is open to others")
        .set_remedy("remove it, and every access token that was made with it ends; or chmod 600");
  }
  std::string key = PD_TRY(sys::read_file(path, kBytes + 1));
  if (key.size() == kBytes) return key;
  return Error(Code::data_corrupt, printable(path) + " is not a key")
      .set_remedy("remove it: a new one is made, and access tokens made before end");
}

}  // namespace

Result<std::string> installation_key(const model::HostPath& home) {
  const std::string path = (home / "server.key").str();
  if (!sys::exists(path)) {
    PD_TRY_CTX("making the server's key", sys::replace_file(path, sys::random_bytes(kBytes), 0600));
  }
  return PD_TRY_CTX("reading the server's key", read_key(path));
}

}  // namespace paddock::engine
