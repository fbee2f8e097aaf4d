#include "view/git/branch_read.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <string_view>

#include "base/strings.h"
#include "sys/files.h"
#include "sys/xattr.h"

namespace paddock::view {
namespace {

constexpr size_t kMaxRef = 4096;
constexpr size_t kMaxPackedRefs = 64u << 20;
constexpr int kMaxIndirections = 5;
constexpr const char* kOpaque = "user.overlay.opaque";

enum class Shows { nothing, passes, ends, here };

bool is_whiteout(const struct stat& st) {
  return S_ISCHR(st.st_mode) && st.st_rdev == makedev(0, 0);
}

bool is_opaque(const sys::DirFd& directory) {
  auto xattrs = sys::read_xattrs(directory);
  return xattrs.ok() && std::any_of(xattrs->begin(), xattrs->end(), [](const sys::Xattr& xattr) {
           return xattr.name == kOpaque && xattr.value == "y";
         });
}

// What one layer says of a path, component by component: `ends` when it hides what lies below it.
Result<Shows> look_up(const model::HostPath& layer, const std::string& path) {
  auto top = sys::lstat_path(layer.str());
  if (!top.ok()) return Shows::passes;
  if (!S_ISDIR(top->st_mode)) return Shows::ends;
  sys::DirFd directory = PD_TRY(sys::open_dir(layer.str()));
  bool hides = is_opaque(directory);
  std::vector<std::string> parts = split(path, '/');
  for (size_t i = 0; i < parts.size(); ++i) {
    auto st = sys::lstat_at(directory, parts[i]);
    if (!st.ok()) return hides ? Shows::ends : Shows::passes;
    if (is_whiteout(*st)) return Shows::ends;
    if (i + 1 == parts.size()) return Shows::here;
    if (!S_ISDIR(st->st_mode)) return Shows::ends;
    directory = PD_TRY(sys::open_dir_at(directory, parts[i]));
    hides = hides || is_opaque(directory);
  }
  return Shows::nothing;
}

Result<std::string> read_regular(const model::HostPath& root, const std::string& path,
                                 size_t limit) {
  sys::DirFd directory = PD_TRY(sys::open_dir(root.str()));
  struct stat st = PD_TRY(sys::lstat_at(directory, path));
  if (!S_ISREG(st.st_mode)) {
    return Error(Code::data_corrupt, printable(path) + " of the git directory is no regular file");
  }
  return sys::read_file_at(directory, path, limit);
}

bool is_ref_name(const std::string& name) {
  auto parts = split(name, '/');
  return name.starts_with("refs/") && name.size() < 1024 &&
         std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
           return !part.empty() && part[0] != '.' && part.find("..") == std::string::npos &&
                  part.find('\0') == std::string::npos;
         });
}

Result<std::optional<std::string>> find_packed(const ShownDirectory& common_dir,
                                               const std::string& name) {
  auto packed = PD_TRY(read_shown(common_dir, "packed-refs", kMaxPackedRefs));
  if (!packed) return std::optional<std::string>();
  for (const std::string& line : split(*packed, '\n')) {
    size_t blank = line.find(' ');
    if (blank == std::string::npos || line.substr(blank + 1) != name) continue;
    if (is_object_id(line.substr(0, blank))) return std::optional(line.substr(0, blank));
  }
  return std::optional<std::string>();
}

}  // namespace

bool is_object_id(const std::string& text) {
  return (text.size() == 40 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Result<std::optional<std::string>> read_shown(const ShownDirectory& directory,
                                              const std::string& path, size_t limit) {
  for (const model::HostPath& layer : directory.layers) {
    Shows shows = PD_TRY(look_up(layer, path));
    if (shows == Shows::ends) return std::optional<std::string>();
    if (shows == Shows::here) return std::optional(PD_TRY(read_regular(layer, path, limit)));
  }
  auto of_host = read_regular(directory.host, path, limit);
  if (of_host.ok()) return std::optional(std::move(of_host).value());
  if (of_host.error().code() == Code::not_found) return std::optional<std::string>();
  return std::move(of_host).error();
}

Result<std::optional<std::string>> resolve_head(const ShownDirectory& git_dir,
                                                const ShownDirectory& common_dir) {
  auto text = PD_TRY(read_shown(git_dir, "HEAD", kMaxRef));
  for (int i = 0; i < kMaxIndirections; ++i) {
    if (!text) return text;
    std::string value(trim(*text));
    if (is_object_id(value)) return std::optional(value);
    if (!value.starts_with("ref: ") || !is_ref_name(value.substr(5))) {
      return Error(Code::data_corrupt, "HEAD of the view is no ref: " + printable(value));
    }
    std::string name = value.substr(5);
    text = PD_TRY(read_shown(common_dir, name, kMaxRef));
    if (!text) return find_packed(common_dir, name);
  }
  return Error(Code::data_corrupt, "HEAD of the view leads in circles");
}

}  // namespace paddock::view
