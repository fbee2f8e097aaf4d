// What a sandbox starts from. A template is resolved to the pieces of a root file system; today
// there is `host` (the machine's own tools, seen read-only or through a throw-away layer) and a
// plain directory (--rootfs). OCI images will be further implementations of the same contract.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/decision.h"
#include "model/mounts.h"

namespace paddock::image {

struct Root {
  model::FileSystem files;               // without the workspace
  std::vector<std::string> environment;  // "PATH=…"
  std::vector<model::Control> controls;  // what the decision says about it
  std::string name;                      // "host", or the directory
};

class ImageStore {
 public:
  virtual ~ImageStore() = default;
  // `name` is "host" or an absolute host directory. not_found, invalid_argument (with remedy).
  virtual Result<Root> resolve(const std::string& name) = 0;
};

}  // namespace paddock::image
