#include "cmd/outcome_file.h"

#include <fcntl.h>

#include "sys/files.h"

namespace paddock::cmd {

Result<sys::FileFd> open_outcome(const std::string& path) {
  if (path.empty()) return sys::FileFd();
  return sys::open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0644)
      .with_context("opening the outcome file");
}

}  // namespace paddock::cmd
