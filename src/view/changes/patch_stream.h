// Two trees for git fast-import.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/paths.h"
#include "sys/fd.h"

namespace paddock::view {

// Writes a fast-import stream into a new file. Each tree is a branch with one commit.
class FastImportStream {
 public:
  static Result<FastImportStream> create(const model::HostPath& file);

  Status begin_tree(const std::string& branch);
  enum class Entry { file, executable, symlink };
  // `path` is bytes without a zero; `bytes` of a symlink its target.
  Status add(const std::string& path, Entry entry, std::string_view bytes);
  Status end();

 private:
  explicit FastImportStream(sys::FileFd fd) : fd_(std::move(fd)) {}
  Status write(std::string_view text);

  sys::FileFd fd_;
};

// A path in double quotes as git reads it.
std::string quote_for_git(const std::string& path);

}  // namespace paddock::view
