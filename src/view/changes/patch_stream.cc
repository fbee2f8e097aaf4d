#include "view/changes/patch_stream.h"

#include <fcntl.h>
#include <fmt/core.h>

#include "sys/files.h"

namespace paddock::view {
namespace {

const char* mode_of(FastImportStream::Entry entry) {
  switch (entry) {
    case FastImportStream::Entry::executable:
      return "100755";
    case FastImportStream::Entry::symlink:
      return "120000";
    default:
      return "100644";
  }
}

}  // namespace

std::string quote_for_git(const std::string& path) {
  std::string quoted = "\"";
  for (char c : path) {
    auto byte = static_cast<unsigned char>(c);
    bool plain = byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
    quoted += plain ? std::string(1, c) : fmt::format("\\{:03o}", byte);
  }
  return quoted + "\"";
}

Result<FastImportStream> FastImportStream::create(const model::HostPath& file) {
  return FastImportStream(
      PD_TRY(sys::open_file(file.str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600)));
}

Status FastImportStream::begin_tree(const std::string& branch) {
  return write(fmt::format("commit refs/heads/{}\ncommitter paddock <> 0 +0000\ndata 0\n", branch));
}

Status FastImportStream::add(const std::string& path, Entry entry, std::string_view bytes) {
  PD_TRY(write(
      fmt::format("M {} inline {}\ndata {}\n", mode_of(entry), quote_for_git(path), bytes.size())));
  PD_TRY(write(bytes));
  return write("\n");
}

Status FastImportStream::end() {
  return write("done\n");
}

Status FastImportStream::write(std::string_view text) {
  return sys::write_all(fd_, text);
}

}  // namespace paddock::view
