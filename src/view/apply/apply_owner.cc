#include "view/apply/apply_owner.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/strings.h"
#include "sys/files.h"
#include "view/changes/change_stack.h"

namespace paddock::view {
namespace {

constexpr const char* kAccessList = "system.posix_acl_access";
constexpr const char* kDefaultList = "system.posix_acl_default";
constexpr const char* kLabel = "security.selinux";

bool is_kept(const std::string& name) {
  return name == kAccessList || name == kLabel;
}

}  // namespace

Result<Ownership> OwnershipOf::replaced(const std::string& path, const Object& object) {
  Ownership ownership{object.uid, object.gid, 0, {}};
  if (!object.is(model::FileType::regular) || !object.readable) return ownership;
  sys::FileFd fd = PD_TRY(open_regular(host_, path));
  for (sys::Xattr& xattr : PD_TRY(sys::read_xattrs(fd))) {
    if (is_kept(xattr.name)) ownership.attributes.push_back(std::move(xattr));
  }
  return ownership;
}

Result<const OwnershipOf::Parent*> OwnershipOf::nearest(std::string path) {
  while (true) {
    path = parent_of(path);
    auto known = parents_.find(path);
    if (known != parents_.end()) return &known->second;
    Result<sys::DirFd> dir = open_dir_in(host_, path);
    if (!dir.ok() && !path.empty()) continue;
    if (!dir.ok()) return std::move(dir).error();
    Parent parent;
    parent.object = PD_TRY(examine_open(*dir));
    for (sys::Xattr& xattr : PD_TRY(sys::read_xattrs(*dir))) {
      if (xattr.name == kDefaultList) parent.default_list.push_back(std::move(xattr));
    }
    return &parents_.emplace(path, std::move(parent)).first->second;
  }
}

Result<Ownership> OwnershipOf::made(const std::string& path, model::FileType type) {
  const Parent& parent = *PD_TRY(nearest(path));
  Ownership ownership{::geteuid(), ::getegid(), 0, {}};
  bool is_dir = type == model::FileType::directory;
  bool hands_down_group = (parent.object.state.mode & S_ISGID) != 0;
  if (::geteuid() == 0) ownership.uid = parent.object.uid;
  if (::geteuid() == 0 || hands_down_group) ownership.gid = parent.object.gid;
  if (is_dir && hands_down_group) ownership.special = S_ISGID;
  for (const sys::Xattr& list : parent.default_list) {
    if (type == model::FileType::symlink) continue;
    ownership.attributes.push_back({kAccessList, list.value});
    if (is_dir) ownership.attributes.push_back(list);
  }
  return ownership;
}

Status give(const sys::Fd& fd, const Ownership& ownership, const model::FileState& state) {
  struct stat st {};
  if (::fstat(fd.get(), &st) != 0) return Error::from_errno(errno, "examining a staged file");
  bool other = st.st_uid != ownership.uid || st.st_gid != ownership.gid;
  if (other && ::fchown(fd.get(), ownership.uid, ownership.gid) != 0) {
    return Error::from_errno(errno, "giving a staged file its owner");
  }
  for (const auto& [name, value] : state.xattrs) PD_TRY(sys::set_xattr(fd, {name, value}));
  for (const sys::Xattr& xattr : ownership.attributes) {
    Status set = sys::set_xattr(fd, xattr);
    // A label is the system's to give where the caller may not.
    if (!set.ok() && xattr.name != kLabel) return set;
  }
  // Last: a change of owner or list changes it.
  if (::fchmod(fd.get(), (state.mode & 0777) | ownership.special) != 0) {
    return Error::from_errno(errno, "giving a staged file its mode");
  }
  return {};
}

}  // namespace paddock::view
