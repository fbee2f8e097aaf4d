// One directory of a cgroup hierarchy, version 1 or 2.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

// Owns the directory: the destructor kills what is in it and removes it. Move-only. Methods may be
// called from several threads, but not while it is moved or removed.
class Cgroup {
 public:
  Cgroup() = default;
  Cgroup(Cgroup&& other) noexcept
      : path_(std::exchange(other.path_, {})), dir_(std::move(other.dir_)) {}
  Cgroup& operator=(Cgroup&& other) noexcept;
  ~Cgroup() { (void)remove().ok(); }

  // Makes the directory. already_exists: somebody has it.
  static Result<Cgroup> make(const std::string& path);
  // Takes over one that exists; nullopt when it does not.
  static std::optional<Cgroup> adopt(const std::string& path);

  bool is_open() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  // For CLONE_INTO_CGROUP.
  int dir_fd() const { return dir_.get(); }

  // "memory.max" ← "1000"; the error names file and value.
  Status write(const std::string& file, std::string_view value) const;
  Result<std::string> read(const std::string& file) const;
  bool has(const std::string& file) const;
  // The value after `key` in a flat keyed file ("oom_kill 3"); 0 when file or key is missing.
  uint64_t counter(const std::string& file, std::string_view key) const;
  // A file that holds one number; 0 when it is missing or holds none.
  uint64_t number(const std::string& file) const;

  // Moves a process with all its threads. On version 1 the first move since a while waits for an
  // RCU grace period (17-42 ms).
  Status add(pid_t pid) const;

  // Kills the members until none is left, then removes the directory. Idempotent; timed_out when a
  // member does not die within two seconds.
  Status remove();
  // It stays, and is nobody's.
  void release();

 private:
  Cgroup(std::string path, DirFd dir) : path_(std::move(path)), dir_(std::move(dir)) {}
  void kill_members() const;

  std::string path_;
  DirFd dir_;
};

// Where the hierarchies are: what is below /sys/fs/cgroup.
bool is_cgroup2(const std::string& path);

}  // namespace paddock::sys
