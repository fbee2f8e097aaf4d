// Trees of the host as detached, id-mapped mounts: made by root in the parent, attached by the
// child.
#pragma once

#include <optional>
#include <vector>

#include "isolation/container/id_map.h"
#include "isolation/container/mount_program_builder.h"
#include "sys/mounts.h"

namespace paddock::isolation::container {

// Owns the mounts until the child has its copies of the descriptors. Nothing shows in any mount
// namespace.
class DetachedSources : public SourceProvider {
 public:
  // Of the plan: whose files are shown as the user's. `base`: first id of the sandbox's range.
  struct Owner {
    uid_t uid = 0;
    gid_t gid = 0;
    uint32_t user = 0;  // of the sandbox, inside
    uint32_t base = 0;
  };
  explicit DetachedSources(Owner owner) : owner_(owner) {}

  Result<Source> open(const SourceRequest& request) override;

  // Before the child attaches them. `as_on_disk` is the child's own user namespace. unsupported,
  // with the remedy: a file system that must show its owner as the user cannot map ids. Where
  // nothing has to be written it goes unmapped: what others may read can be read.
  Status map_all(const sys::Fd& as_on_disk);

 private:
  struct Mount {
    sys::MountFd fd;
    SourceRequest request;
    bool owner_is_user = false;
  };
  Status map(const Mount& mount, const sys::Fd& user_namespace) const;

  Owner owner_;
  std::vector<Mount> mounts_;
};

}  // namespace paddock::isolation::container
