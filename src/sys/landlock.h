// Landlock domains over whatever ABI the kernel has.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

int landlock_abi();  // 0: not available

enum class PathRights { read, read_write };  // `read` includes executing

// Scoped, where the kernel can (ABI 6): processes inside reach no abstract unix socket and signal
// no process outside.
enum class LandlockScope { files, files_and_processes };

// Rules for file access; everything else of the file system is refused inside.
class LandlockRuleset {
 public:
  // unsupported where the kernel has no Landlock.
  static Result<LandlockRuleset> make(LandlockScope scope = LandlockScope::files_and_processes);
  // Everything beneath `path`, or the file itself. A path that does not exist needs no rule.
  Status allow(const std::string& path, PathRights rights);
  const Fd& fd() const { return fd_; }

 private:
  LandlockRuleset(Fd fd, uint64_t handled) : fd_(std::move(fd)), handled_(handled) {}
  Fd fd_;
  uint64_t handled_;
};

// Puts the calling thread into the ruleset's domain; needs no_new_privs. 0 or an errno.
// Async-signal-safe: for use between fork and exec.
int enter_landlock_domain(int ruleset_fd);

}  // namespace paddock::sys
