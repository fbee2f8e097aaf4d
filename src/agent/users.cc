#include "agent/users.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/strings.h"
#include "sys/files.h"

namespace paddock::agent {
namespace {

constexpr size_t kMaxTable = 4u << 20;
constexpr size_t kMaxGroups = 256;
// No id of any namespace: (uid_t)-1 means "leave it" to the kernel.
constexpr uint64_t kMaxId = UINT32_MAX - 1;

std::optional<uint32_t> parse_id(const std::string& text) {
  const auto number = parse_u64(text);
  if (!number || *number > kMaxId) return std::nullopt;
  return static_cast<uint32_t>(*number);
}

// Empty where there is none. Not to wait for the writer of a pipe of that name.
std::string read_table(const char* path) {
  auto file = sys::open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  struct stat info {};
  if (!file.ok() || ::fstat(file->get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  auto text = sys::read_all(*file, kMaxTable);
  return text.ok() ? std::move(*text) : std::string();
}

std::optional<User> parse_user(const std::string& line) {
  const std::vector<std::string> fields = split(line, ':');
  if (fields.size() < 7) return std::nullopt;
  const auto uid = parse_id(fields[2]);
  const auto gid = parse_id(fields[3]);
  if (!uid || !gid) return std::nullopt;
  User user{.name = fields[0], .uid = *uid, .gid = *gid, .home = fields[5], .shell = fields[6]};
  if (user.home.empty()) user.home = "/";
  if (user.shell.empty()) user.shell = "/bin/sh";
  return user;
}

std::optional<User> first_user(const std::string& passwd,
                               const std::function<bool(const User&)>& is_wanted) {
  for (const std::string& line : split(passwd, '\n')) {
    auto user = parse_user(line);
    if (user && is_wanted(*user)) return user;
  }
  return std::nullopt;
}

Result<User> complete(std::optional<User> user, const std::string& name) {
  if (!user) return Error(Code::not_found, "unknown user " + printable(name));
  user->groups = groups_in(read_table("/etc/group"), *user);
  return std::move(*user);
}

}  // namespace

std::optional<User> user_in(const std::string& passwd, const std::string& name) {
  if (name.empty()) return std::nullopt;
  return first_user(passwd, [&](const User& user) { return user.name == name; });
}

std::optional<User> user_in(const std::string& passwd, uid_t uid) {
  return first_user(passwd, [&](const User& user) { return user.uid == uid; });
}

std::vector<gid_t> groups_in(const std::string& group, const User& user) {
  std::vector<gid_t> groups;
  for (const std::string& line : split(group, '\n')) {
    const std::vector<std::string> fields = split(line, ':');
    if (fields.size() < 4) continue;
    const auto gid = parse_id(fields[2]);
    const std::vector<std::string> members = split(fields[3], ',');
    if (!gid || *gid == user.gid || groups.size() >= kMaxGroups) continue;
    if (std::ranges::find(members, user.name) != members.end()) groups.push_back(*gid);
  }
  return groups;
}

Result<User> find_user(const std::string& name) {
  if (name.starts_with('#')) {
    const auto uid = parse_id(name.substr(1));
    if (!uid) return Error(Code::invalid_argument, "no user id: " + printable(name));
    return find_user(*uid);
  }
  return complete(user_in(read_table("/etc/passwd"), name), name);
}

Result<User> find_user(uid_t uid) {
  return complete(user_in(read_table("/etc/passwd"), uid), "#" + std::to_string(uid));
}

Result<gid_t> find_group(const std::string& name) {
  if (name.starts_with('#')) {
    if (const auto gid = parse_id(name.substr(1))) return *gid;
  }
  for (const std::string& line : split(read_table("/etc/group"), '\n')) {
    const std::vector<std::string> fields = split(line, ':');
    if (fields.size() < 3 || fields[0] != name) continue;
    if (const auto gid = parse_id(fields[2])) return *gid;
  }
  return Error(Code::not_found, "unknown group " + printable(name));
}

}  // namespace paddock::agent
