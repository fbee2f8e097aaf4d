#include "view/git/branch_objects.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>

#include "sys/files.h"
#include "view/git/git_run.h"

namespace paddock::view {
namespace {

constexpr uint64_t kMaxBytes = 4ull << 30;
constexpr uint64_t kMaxFiles = 1u << 20;

bool is_hex(std::string_view text, size_t length) {
  return text.size() == length &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

class Gatherer {
 public:
  explicit Gatherer(const ScratchRepository& scratch) : scratch_(scratch) {}

  Status take_layer(const model::HostPath& layer) {
    auto objects = sys::open_dir_at(PD_TRY(sys::open_dir(layer.str())), "objects");
    if (!objects.ok()) return {};  // this step made none
    for (const sys::DirEntry& entry : PD_TRY(sys::list_dir(*objects))) {
      auto directory = sys::open_dir_at(*objects, entry.name);
      if (!directory.ok()) continue;
      if (is_hex(entry.name, 2)) PD_TRY(take_loose(*directory, entry.name));
      if (entry.name == "pack") PD_TRY(take_packs(*directory));
    }
    return {};
  }

 private:
  Status take_loose(const sys::DirFd& directory, const std::string& prefix) {
    std::string to = (scratch_.git_dir() / ("objects/" + prefix)).str();
    PD_TRY(sys::make_dir(to, 0700));
    for (const sys::DirEntry& entry : PD_TRY(sys::list_dir(directory))) {
      if (!is_hex(entry.name, 38) && !is_hex(entry.name, 62)) continue;
      PD_TRY(copy(directory, entry.name, to + "/" + entry.name));
    }
    return {};
  }

  Status take_packs(const sys::DirFd& directory) {
    for (const sys::DirEntry& entry : PD_TRY(sys::list_dir(directory))) {
      if (!entry.name.starts_with("pack-") || !entry.name.ends_with(".pack")) continue;
      model::HostPath file = scratch_.file("incoming.pack");
      PD_TRY(copy(directory, entry.name, file.str()));
      GitCall call;
      call.git_dir = scratch_.git_dir();
      call.args = {"index-pack", "--stdin"};
      call.input_file = file;
      (void)PD_TRY_CTX("indexing a pack of the view", git_output(std::move(call)));
      ::unlink(file.c_str());
    }
    return {};
  }

  // An object that is there already is the same one: its name is its digest, which is checked
  // later.
  Status copy(const sys::DirFd& directory, const std::string& name, const std::string& to) {
    struct stat st = PD_TRY(sys::lstat_at(directory, name));
    if (!S_ISREG(st.st_mode) || sys::exists(to)) return {};
    bytes_ += static_cast<uint64_t>(st.st_size);
    if (bytes_ > kMaxBytes || ++files_ > kMaxFiles) {
      return Error(Code::resource_exhausted, "the view holds more git objects than are carried");
    }
    sys::Fd from = PD_TRY(sys::open_beneath(directory, name, O_RDONLY | O_NONBLOCK));
    sys::FileFd target = PD_TRY(sys::open_file(to, O_WRONLY | O_CREAT | O_EXCL, 0600));
    std::array<char, 65536> buffer;
    for (uint64_t left = static_cast<uint64_t>(st.st_size); left > 0;) {
      ssize_t n = ::read(from.get(), buffer.data(), std::min<uint64_t>(left, buffer.size()));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Error::from_errno(errno, "reading a git object of the view");
      if (n == 0) break;
      PD_TRY(sys::write_all(target, {buffer.data(), static_cast<size_t>(n)}));
      left -= static_cast<uint64_t>(n);
    }
    return {};
  }

  const ScratchRepository& scratch_;
  uint64_t bytes_ = 0;
  uint64_t files_ = 0;
};

}  // namespace

Status gather_objects(const std::vector<model::HostPath>& layers,
                      const ScratchRepository& scratch) {
  Gatherer gatherer(scratch);
  for (const model::HostPath& layer : layers) {
    struct stat st = PD_TRY(sys::lstat_path(layer.str()));
    if (S_ISDIR(st.st_mode)) PD_TRY(gatherer.take_layer(layer));
  }
  return {};
}

}  // namespace paddock::view
