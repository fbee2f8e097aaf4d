// Debian's cloud kernel, made fit for a machine without a boot loader.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace paddock::agent::testing {

struct Kernel {
  std::string release;     // "6.1.0-57-cloud-amd64"
  std::string image;       // path of vmlinuz
  std::string module_dir;  // /lib/modules/<release>
};
// The newest one that is installed; unsupported: none.
Result<Kernel> find_cloud_kernel();

// The ELF file inside of a vmlinuz (LZ4, legacy frame format).
Result<std::string> unpack_kernel(std::string_view vmlinuz);

// Paths of the named modules below `module_dir` and of all that they need, in the order to load
// them. `dependencies` is the text of modules.dep.
Result<std::vector<std::string>> order_modules(std::string_view dependencies,
                                               const std::vector<std::string>& names);

}  // namespace paddock::agent::testing
