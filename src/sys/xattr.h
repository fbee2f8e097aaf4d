// Extended attributes of an open file or directory (xattr(7)).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::sys {

struct Xattr {
  std::string name;
  std::string value;
  auto operator<=>(const Xattr&) const = default;
};

// All that this process may see, sorted by name; none where the file system has no xattrs. `fd` is
// open for reading (O_PATH does not do).
Result<std::vector<Xattr>> read_xattrs(const Fd& fd);
Status set_xattr(const Fd& fd, const Xattr& xattr);
Status remove_xattr(const Fd& fd, const std::string& name);  // absent is success

}  // namespace paddock::sys
