// Which directories may be a workspace, and where they really are.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/mounts.h"
#include "model/paths.h"

namespace paddock::view {

// What of the host a workspace must stay clear of.
struct Surroundings {
  model::HostPath paddock_home;
  std::vector<std::string> homes;  // home directories
  std::vector<std::string> mount_points;
};

// Of this host: homes from /etc/passwd beside `further`, mount points from /proc/self/mountinfo.
// All resolved.
Result<Surroundings> read_surroundings(const model::HostPath& paddock_home,
                                       const std::vector<model::HostPath>& further_homes);
// Home directories that a passwd file names, without those of accounts that have none ("/", below
// /dev, /proc, "/nonexistent").
std::vector<std::string> homes_in_passwd(std::string_view passwd);

struct Workspace {
  model::HostPath path;  // canonical: no symlink in it
  struct stat attributes {};
  std::vector<model::Symlink> links;  // that lead from the caller's spelling to `path`
};

// Resolves `asked` once; everything after works with the result. not_found, invalid_argument (what
// it is), permission_denied (not readable), failed_precondition (what it holds), each with the
// remedy.
Result<Workspace> check_workspace(const model::HostPath& asked, const Surroundings& around);

// Why the canonical directory `path` must not be shown to a sandbox as a whole; success: it may.
// What check_workspace() asks of a workspace, for any directory.
Status check_exposure(const model::HostPath& path, const Surroundings& around);

// Every symlink of the host that resolving the absolute `path` meets, in that order, with its own
// parent resolved.
std::vector<model::Symlink> links_on_path(const std::string& path);

}  // namespace paddock::view
