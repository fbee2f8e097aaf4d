#include "sys/cgroup.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "base/strings.h"
#include "sys/files.h"

namespace paddock::sys {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kRemoveDeadline{2000};

}  // namespace

Cgroup& Cgroup::operator=(Cgroup&& other) noexcept {
  if (this != &other) {
    (void)remove().ok();
    path_ = std::exchange(other.path_, {});
    dir_ = std::move(other.dir_);
  }
  return *this;
}

Result<Cgroup> Cgroup::make(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) != 0) {
    return Error::from_errno(errno, "creating the cgroup " + printable(path));
  }
  auto dir = open_dir(path);
  if (!dir.ok()) {
    ::rmdir(path.c_str());
    return std::move(dir).error();
  }
  return Cgroup(path, std::move(*dir));
}

std::optional<Cgroup> Cgroup::adopt(const std::string& path) {
  auto dir = open_dir(path);
  if (!dir.ok()) return std::nullopt;
  return Cgroup(path, std::move(*dir));
}

void Cgroup::release() {
  path_.clear();
  dir_.reset();
}

Status Cgroup::write(const std::string& file, std::string_view value) const {
  Fd fd(::openat(dir_.get(), file.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  // One write(2): the kernel reads a value per call.
  if (!fd.is_open() || ::write(fd.get(), value.data(), value.size()) < 0) {
    return Error::from_errno(errno, fmt::format("writing {} to {}/{}", value, path_, file));
  }
  return {};
}

Result<std::string> Cgroup::read(const std::string& file) const {
  return read_file_at(dir_, file, 1u << 20);
}

bool Cgroup::has(const std::string& file) const {
  return ::faccessat(dir_.get(), file.c_str(), F_OK, 0) == 0;
}

uint64_t Cgroup::counter(const std::string& file, std::string_view key) const {
  auto text = read(file);
  if (!text.ok()) return 0;
  for (const std::string& line : split(*text, '\n')) {
    if (line.size() > key.size() && line.compare(0, key.size(), key) == 0 &&
        line[key.size()] == ' ') {
      return parse_u64(trim(std::string_view(line).substr(key.size()))).value_or(0);
    }
  }
  return 0;
}

uint64_t Cgroup::number(const std::string& file) const {
  auto text = read(file);
  return text.ok() ? parse_u64(trim(*text)).value_or(0) : 0;
}

Status Cgroup::add(pid_t pid) const {
  return write("cgroup.procs", std::to_string(pid));
}

void Cgroup::kill_members() const {
  if (has("cgroup.kill")) {
    (void)write("cgroup.kill", "1").ok();
    return;
  }
  auto members = read("cgroup.procs");
  if (!members.ok()) return;
  for (const std::string& line : split(*members, '\n')) {
    auto pid = parse_u64(line);
    // 0: a member of a pid namespace that we do not see.
    if (pid.value_or(0) > 0) ::kill(static_cast<pid_t>(*pid), SIGKILL);
  }
}

Status Cgroup::remove() {
  if (path_.empty()) return {};
  auto deadline = steady_clock::now() + kRemoveDeadline;
  milliseconds pause{1};
  while (::rmdir(path_.c_str()) != 0) {
    if (errno == ENOENT) break;
    if (errno != EBUSY) return Error::from_errno(errno, "removing the cgroup " + path_);
    if (steady_clock::now() > deadline) {
      return Error(Code::timed_out,
                   "removing the cgroup " + path_ + ": a process in it does not end");
    }
    kill_members();
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, milliseconds{50});
  }
  path_.clear();
  dir_.reset();
  return {};
}

bool is_cgroup2(const std::string& path) {
  struct statfs fs {};
  return ::statfs(path.c_str(), &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

}  // namespace paddock::sys
