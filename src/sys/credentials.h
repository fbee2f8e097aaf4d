// Who a process is: for a sandbox's first process, which starts others as somebody else.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace paddock::sys {

struct Identity {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  // supplementary
  bool operator==(const Identity&) const = default;
};

// Becomes it for good, holding exactly `capabilities`, which a program executed next holds, too
// (they are ambient); they must be held permitted and inheritable before. Needs CAP_SETUID and
// CAP_SETGID. 0 or an errno; by system calls alone, of the calling thread alone: for a child of
// vfork(2), too.
int raw_become(const Identity& identity, uint64_t capabilities);

// Those ids, and no groups. -1 and errno where that fails. By system calls alone: for a child that
// was cloned while other threads of its parent ran.
int raw_take_ids(uid_t uid, gid_t gid);

// Files that this thread makes or opens meanwhile are that user's. Capabilities that have to do
// with files are not effective as long as it lives. For uid 0, which gets its own back.
class ActingAs {
 public:
  explicit ActingAs(const Identity& identity);
  ~ActingAs();
  ActingAs(const ActingAs&) = delete;
  ActingAs& operator=(const ActingAs&) = delete;
};

// Files that this thread makes from now on are that user's; what it may do stays as it was. 0 or an
// errno.
int make_files_as(uid_t uid, gid_t gid);

}  // namespace paddock::sys
