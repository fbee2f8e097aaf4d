#include "isolation/container/detached_sources.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "sys/user_namespace.h"

namespace paddock::isolation::container {

Result<Source> DetachedSources::open(const SourceRequest& request) {
  Mount mount{PD_TRY(sys::clone_mount(request.path.str(), request.submounts, request.attributes)),
              request, false};
  struct stat st {};
  if (::fstat(mount.fd.get(), &st) != 0) {
    return Error::from_errno(errno, "looking at " + printable(request.path.str()));
  }
  bool is_owners = st.st_uid == owner_.uid && owner_.uid != 0;
  mount.owner_is_user = request.show == ShowAs::owner_is_user ||
                        (is_owners && request.show == ShowAs::whoever_owns_it);
  Source source{request.path.str(), mount.fd.get()};
  mounts_.push_back(std::move(mount));
  return source;
}

Status DetachedSources::map_all(const sys::Fd& as_on_disk) {
  bool root_is_root = owner_.uid == 0 && owner_.gid == 0 && owner_.user == 0;
  bool needs_other = !root_is_root && std::any_of(mounts_.begin(), mounts_.end(),
                                                  [](const Mount& m) { return m.owner_is_user; });
  sys::Fd owner_is_user;
  if (needs_other) {
    owner_is_user = PD_TRY_CTX(
        "making the user namespace that shows the owner as the sandbox's user",
        sys::make_user_namespace({format(owner_as_user(owner_.uid, owner_.user, owner_.base)),
                                  format(owner_as_user(owner_.gid, owner_.user, owner_.base))}));
  }
  for (const Mount& mount : mounts_) {
    PD_TRY(map(mount, needs_other && mount.owner_is_user ? owner_is_user : as_on_disk));
  }
  return {};
}

Status DetachedSources::map(const Mount& mount, const sys::Fd& user_namespace) const {
  Status mapped = sys::map_ids(mount.fd, mount.request.submounts, user_namespace);
  if (mapped.ok()) return {};
  bool must = mount.request.show != ShowAs::whoever_owns_it;
  if (mapped.error().code() == Code::unsupported && !must) return {};
  return std::move(mapped)
      .error()
      .add_context("showing " + printable(mount.request.path.str()) + " to the sandbox")
      .set_remedy(
          "start as the owner of the files instead of root, or keep them on ext4, XFS, btrfs or "
          "(Linux 6.3 and newer) tmpfs");
}

}  // namespace paddock::isolation::container
