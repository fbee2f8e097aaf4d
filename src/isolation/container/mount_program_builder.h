// Turns the file system of a plan into a mount program.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "isolation/backend.h"
#include "isolation/container/mount_program.h"
#include "sys/mounts.h"

namespace paddock::isolation::container {

// Under whose ids a tree is shown inside (started by root).
enum class ShowAs {
  owner_is_user,    // the plan's owner is the sandbox's user: must hold, or nothing can be written
  as_on_disk,       // of the sandbox's own, and must be written: ids as they are there
  whoever_owns_it,  // read-only: the same when its owner is the plan's, else as on disk
};

struct SourceRequest {
  model::HostPath path;
  uint64_t attributes = 0;  // MOUNT_ATTR_*
  ShowAs show = ShowAs::whoever_owns_it;
  sys::Submounts submounts = sys::Submounts::leave_out;
};

// How trees of the host reach the child.
class SourceProvider {
 public:
  virtual ~SourceProvider() = default;
  virtual Result<Source> open(const SourceRequest& request) = 0;
};

// Started by a user: the child opens the path itself.
class PathSources : public SourceProvider {
 public:
  Result<Source> open(const SourceRequest& request) override {
    return Source{request.path.str(), -1};
  }
};

struct ProgramOptions {
  uint64_t scratch_bytes = 0;
  uint64_t scratch_inodes = 0;
  uint64_t shm_bytes = 0;
  uid_t home_owner = 0;          // of plan.home, as seen inside; its group, too
  std::optional<gid_t> tty_gid;  // group of terminals, where it is mapped
  // Where uppers of trees that the plan gives none are made, when the scratch tmpfs cannot hold
  // them.
  std::optional<model::HostPath> upper_parent;
  std::vector<std::string> masked;     // below the root: hidden, where they exist
  std::vector<std::string> read_only;  // below the root: made read-only, where they exist
};

// invalid_argument: a path that is not absolute and normal, two trees at one place, a tree below
// /proc or /sys. resource_exhausted: more layers than an overlay takes. not_found: a source is
// missing.
Result<MountProgram> build_mount_program(const SandboxPlan& plan, const ProgramOptions& options,
                                         SourceProvider& sources);

}  // namespace paddock::isolation::container
