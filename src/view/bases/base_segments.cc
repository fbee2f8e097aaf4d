#include "view/bases/base_segments.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/strings.h"
#include "sys/files.h"
#include "sys/rename.h"

namespace paddock::view {
namespace {

constexpr std::string_view kSuffix = ".base";
constexpr size_t kDigits = 8;

bool is_segment(std::string_view name) {
  return name.size() == kDigits + kSuffix.size() && name.substr(kDigits) == kSuffix &&
         parse_u64(name.substr(0, kDigits)).has_value();
}

}  // namespace

Result<std::vector<std::string>> list_segments(const model::HostPath& dir) {
  std::vector<std::string> names;
  Result<sys::DirFd> opened = sys::open_dir(dir.str());
  if (!opened.ok()) {
    if (opened.error().code() == Code::not_found) return names;
    return std::move(opened).error();
  }
  for (const sys::DirEntry& entry : PD_TRY(sys::list_dir(*opened))) {
    if (is_segment(entry.name)) names.push_back(entry.name);
  }
  return names;
}

Status number_segment(const model::HostPath& dir, const std::string& name) {
  std::vector<std::string> names = PD_TRY(list_segments(dir));
  uint64_t last = names.empty() ? 0 : *parse_u64(names.back().substr(0, kDigits));
  sys::DirFd opened = PD_TRY(sys::open_dir(dir.str()));
  std::string numbered = fmt::format("{:08}{}", last + 1, kSuffix);
  PD_TRY(sys::rename_new({opened, name}, {opened, numbered}));
  if (::fsync(opened.get()) != 0) return Error::from_errno(errno, "syncing " + dir.str());
  return {};
}

}  // namespace paddock::view
