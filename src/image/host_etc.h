// The /etc of template `host`: composed from an allow-list of the machine's files that tools need
// and that hold no secret, plus generated ones (passwd, hosts, resolv.conf …). Kept in a cache
// directory that is made again when a source changes.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "model/paths.h"

namespace paddock::image {

struct EtcOptions {
  model::HostPath source{"/etc"};  // of the machine
  model::HostPath cache;           // directory for composed trees, created when missing
  uid_t uid = 0;                   // of the sandbox's user, as seen inside
  gid_t gid = 0;
  std::string user = "user";
  std::string home = "/home/user";
  std::string hostname = "paddock";
};

// The composed directory. Costs one lstat per allow-list entry when nothing changed. Safe to call
// from several processes at once. Fails when the cache cannot be written.
Result<model::HostPath> compose_etc(const EtcOptions& options);

// The generated files alone (hosts, resolv.conf …), for a root directory that has its own /etc.
// Returns a directory to stack above the root's /etc.
Result<model::HostPath> compose_etc_overrides(const EtcOptions& options);

}  // namespace paddock::image
