// Who owns what an apply makes, and the attributes that are the host's business.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "sys/fd.h"
#include "sys/xattr.h"
#include "view/changes/change_object.h"

namespace paddock::view {

struct Ownership {
  uid_t uid = 0;
  gid_t gid = 0;
  mode_t special = 0;                  // setgid of a new directory in a setgid directory
  std::vector<sys::Xattr> attributes;  // access lists and security labels, in the order to set them
};

// Owners and lists of the directories of one host tree, as new entries take them.
class OwnershipOf {
 public:
  explicit OwnershipOf(const sys::DirFd& host) : host_(host) {}

  // Of what replaces `object`, which is at `path`: its own. Not its capabilities: they were given
  // to other bytes.
  Result<Ownership> replaced(const std::string& path, const Object& object);
  // Of a new entry: what the kernel would give it in the nearest directory above that exists; by
  // root, that directory's owner.
  Result<Ownership> made(const std::string& path, model::FileType type);

 private:
  struct Parent {
    Object object;
    std::vector<sys::Xattr> default_list;
  };
  Result<const Parent*> nearest(std::string path);

  const sys::DirFd& host_;
  std::map<std::string, Parent> parents_;
};

// Gives the open object this owner, mode (0777 and the ownership's special bits) and attributes.
// permission_denied when the caller may not give the owner.
Status give(const sys::Fd& fd, const Ownership& ownership, const model::FileState& state);

}  // namespace paddock::view
