#include "sys/credentials.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "sys/capability_limits.h"

namespace paddock::sys {
namespace {

// SAFETY: libc's own functions of these names change every thread of the process by signals. A
// child of vfork shares libc's list of threads with its parent; any other child has a copy, and
// waits forever for a thread that was being started when it was made. All arguments are plain
// numbers but for the groups, which outlive the call.
int set_groups(const std::vector<gid_t>& groups) {
  return static_cast<int>(::syscall(SYS_setgroups, groups.size(), groups.data()));
}
int set_gid(gid_t gid) {
  return static_cast<int>(::syscall(SYS_setresgid, gid, gid, gid));
}
int set_uid(uid_t uid) {
  return static_cast<int>(::syscall(SYS_setresuid, uid, uid, uid));
}
void set_file_ids(uid_t uid, gid_t gid) {
  ::syscall(SYS_setfsgid, gid);
  ::syscall(SYS_setfsuid, uid);
}

}  // namespace

int raw_become(const Identity& identity, uint64_t capabilities) {
  if (set_groups(identity.groups) != 0 || set_gid(identity.gid) != 0) return errno;
  if (set_uid(identity.uid) != 0) return errno;
  return hold_capabilities(capabilities) == 0 ? 0 : errno;
}

int raw_take_ids(uid_t uid, gid_t gid) {
  if (::syscall(SYS_setgroups, 0, nullptr) != 0 || set_gid(gid) != 0) return -1;
  return set_uid(uid);
}

ActingAs::ActingAs(const Identity& identity) {
  set_file_ids(identity.uid, identity.gid);
}

ActingAs::~ActingAs() {
  set_file_ids(0, 0);
}

int make_files_as(uid_t uid, gid_t gid) {
  const uint64_t held = effective_capabilities();
  set_file_ids(uid, gid);
  return hold_capabilities(held) == 0 ? 0 : errno;
}

}  // namespace paddock::sys
