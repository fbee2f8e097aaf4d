// The ImageStore of templates that need no image: `host` and a plain directory.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "image/image_store.h"
#include "model/paths.h"

namespace paddock::image {

struct HostRootOptions {
  model::HostPath home;  // PADDOCK_HOME; composed files are cached in images/ below it
  uid_t uid = 0;         // of the sandbox's user, as seen inside
  gid_t gid = 0;
  std::string guest_home;  // HOME inside
  std::string hostname;
  bool root_owned_writable =
      false;                     // started by root: /usr and the like are writable (thrown away)
  model::HostPath machine{"/"};  // what template `host` shows; tests name another tree
};

std::unique_ptr<ImageStore> make_host_images(HostRootOptions options);

}  // namespace paddock::image
