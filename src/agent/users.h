// Users as the sandbox's own /etc/passwd and /etc/group have them: text that root inside may have
// written.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace paddock::agent {

struct User {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
  std::string home;
  std::string shell;
  std::vector<gid_t> groups;  // supplementary
};

// By name, or "#" and a number. not_found.
Result<User> find_user(const std::string& name);
Result<User> find_user(uid_t uid);
// By name, or "#" and a number. not_found.
Result<gid_t> find_group(const std::string& name);

// Their parts, pure: of the text of those files.
std::optional<User> user_in(const std::string& passwd, const std::string& name);
std::optional<User> user_in(const std::string& passwd, uid_t uid);
std::vector<gid_t> groups_in(const std::string& group, const User& user);

}  // namespace paddock::agent
