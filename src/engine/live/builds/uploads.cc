#include "engine/live/builds/uploads.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/strings.h"
#include "engine/live/builds/build_steps.h"
#include "sys/clock.h"
#include "sys/fault_point.h"
#include "sys/files.h"
#include "sys/random.h"

namespace paddock::engine {
namespace {

using model::HostPath;

constexpr int64_t kKeptSeconds = 86'400;
constexpr uint64_t kOwnersShare = 4;  // of an owner: that many of the longest
constexpr size_t kPiece = 256u << 10;
constexpr const char* kHalf = ".new-";

struct Kept {
  std::string path;
  uint64_t bytes = 0;
  int64_t sent_s = 0;
};

Result<std::vector<Kept>> list(const HostPath& directory) {
  std::vector<Kept> found;
  const sys::DirFd open = PD_TRY(sys::open_dir(directory.str()));
  for (const sys::DirEntry& entry : PD_TRY(sys::list_dir(open))) {
    if (entry.name.starts_with(kHalf)) continue;
    const auto st = sys::lstat_at(open, entry.name);
    if (!st.ok()) continue;
    found.push_back(
        {(directory / entry.name).str(), static_cast<uint64_t>(st->st_size), st->st_mtim.tv_sec});
  }
  std::ranges::sort(found, {}, &Kept::sent_s);
  return found;
}

Error too_long(uint64_t bytes, uint64_t most) {
  return Error(Code::resource_exhausted, fmt::format("an archive of {}; this server takes {}",
                                                     format_bytes(bytes), format_bytes(most)))
      .set_remedy(
          "copy less, name what is not needed in .dockerignore, or raise `max_upload` in "
          "server.toml");
}

}  // namespace

HostPath Uploads::directory_of(const model::Owner& owner) const {
  const std::string key = owner.key.str();
  return directory_ / (key.empty() ? "keeper" : key);
}

Status Uploads::open() {
  PD_TRY(sys::make_dirs(directory_.str(), 0700));
  const int64_t oldest_s = sys::wall_clock_ms() / 1000 - kKeptSeconds;
  const sys::DirFd open = PD_TRY(sys::open_dir(directory_.str()));
  for (const sys::DirEntry& owner : PD_TRY(sys::list_dir(open))) {
    const HostPath held = directory_ / owner.name;
    const sys::DirFd open_held = PD_TRY(sys::open_dir(held.str()));
    for (const sys::DirEntry& entry : PD_TRY(sys::list_dir(open_held))) {
      const auto st = sys::lstat_at(open_held, entry.name);
      const bool is_old = !st.ok() || st->st_mtim.tv_sec < oldest_s;
      if (is_old || entry.name.starts_with(kHalf)) {
        PD_TRY(sys::remove_tree((held / entry.name).str()));
      }
    }
  }
  return {};
}

bool Uploads::has(net::Task& task, const UploadName& name) {
  const std::string path = (directory_of(name.owner) / name.hash).str();
  return worker_.run(task, [&] { return sys::exists(path); });
}

// The oldest of the owner's go first. On the worker's thread.
Status Uploads::make_room(const HostPath& directory, uint64_t bytes) const {
  PD_TRY(sys::make_dir(directory.str(), 0700));
  const std::vector<Kept> kept = PD_TRY(list(directory));
  uint64_t sum = bytes;
  for (const Kept& one : kept) sum += one.bytes;
  for (const Kept& one : kept) {
    if (sum <= options_.max_bytes * kOwnersShare) break;
    PD_TRY(sys::remove_tree(one.path));
    sum -= one.bytes;
  }
  return {};
}

Result<std::unique_ptr<Uploads::Writing>> Uploads::begin(net::Task& task, const UploadName& name,
                                                         uint64_t bytes) {
  if (!is_files_hash(name.hash)) return Error(Code::invalid_argument, "no hash of files");
  if (bytes > options_.max_bytes) return too_long(bytes, options_.max_bytes);
  const HostPath directory = directory_of(name.owner);
  uint64_t& coming = coming_[directory.str()];
  if (coming + bytes > options_.max_bytes * kOwnersShare) {
    return Error(Code::resource_exhausted, "too much is on its way already")
        .set_remedy("wait until other uploads are done");
  }
  coming += bytes;
  const uint64_t together = coming;
  std::unique_ptr<Writing> writing(new Writing(*this, directory / name.hash, bytes));
  PD_TRY(worker_.run(task, [&]() -> Status {
    PD_TRY(make_room(directory, together));
    writing->temporary_ = (directory / (kHalf + name.hash.substr(0, 16) + "-XXXXXX")).str();
    const int fd = ::mkostemp(writing->temporary_.data(), O_CLOEXEC);
    if (fd < 0) return Error::from_errno(errno, "keeping an upload");
    writing->file_ = sys::FileFd(fd);
    return {};
  }));
  return writing;
}

Uploads::Writing::~Writing() {
  uploads_.coming_[to_.str().substr(0, to_.str().find_last_of('/'))] -= bytes_;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status Uploads::Writing::add(net::Task& task, std::string_view bytes) {
  return uploads_.worker_.run(task, [&] { return sys::write_all(file_, bytes); })
      .with_context("keeping an upload");
}

Status Uploads::Writing::commit(net::Task& task) {
  return uploads_.worker_.run(task, [&]() -> Status {
    sys::fault_point("upload.written");
    if (::fdatasync(file_.get()) != 0) return Error::from_errno(errno, "keeping an upload");
    if (::rename(temporary_.c_str(), to_.c_str()) != 0) {
      return Error::from_errno(errno, "keeping an upload");
    }
    temporary_.clear();
    return {};
  });
}

Result<sys::FileFd> Uploads::read(net::Task& task, const UploadName& name) {
  if (!is_files_hash(name.hash)) return Error(Code::invalid_argument, "no hash of files");
  const std::string path = (directory_of(name.owner) / name.hash).str();
  auto file = worker_.run(task, [&] { return sys::open_file(path, O_RDONLY | O_NOFOLLOW); });
  if (file.ok() || file.error().code() != Code::not_found) return file;
  return Error(Code::not_found, "the files of this step were not sent, or longer ago than a day")
      .set_remedy("build again: what is missing is sent then");
}

Result<std::string> Uploads::next_piece(net::Task& task, const sys::FileFd& file) {
  return worker_.run(task, [&]() -> Result<std::string> {
    std::string piece(kPiece, '\0');
    const ssize_t count = ::read(file.get(), piece.data(), piece.size());
    if (count < 0) return Error::from_errno(errno, "reading an upload");
    piece.resize(static_cast<size_t>(count));
    return piece;
  });
}

}  // namespace paddock::engine
