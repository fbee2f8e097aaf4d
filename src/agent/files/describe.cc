// What is said of a file.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <map>
#include <string_view>

#include "agent/files/files.h"
#include "base/strings.h"
#include "sys/files.h"
#include "sys/xattr.h"

namespace paddock::agent::files {
namespace {

constexpr std::string_view kMetadataPrefix = "user.e2b.";

wire::FileEntry::Kind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return wire::FileEntry::FILE;
  return S_ISDIR(mode) ? wire::FileEntry::DIRECTORY : wire::FileEntry::OTHER;
}

// Names by id of passwd(5) or group(5). The libc's own lookup would load modules, which a static
// program cannot.
std::map<unsigned, std::string> read_names(const char* file) {
  std::map<unsigned, std::string> names;
  auto text = sys::read_file(file, 4u << 20);
  if (!text.ok()) return names;
  for (const std::string& line : split(*text, '\n')) {
    const std::vector<std::string> fields = split(line, ':');
    if (fields.size() < 3) continue;
    if (const auto id = parse_u64(fields[2])) names.emplace(*id, fields[0]);
  }
  return names;
}

std::string name_of(const std::map<unsigned, std::string>& names, unsigned id) {
  auto found = names.find(id);
  return found == names.end() ? std::to_string(id) : found->second;
}

void add_metadata(const std::string& path, wire::FileEntry& entry) {
  sys::Fd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open()) return;  // who may not read it may not read its attributes
  auto xattrs = sys::read_xattrs(file);
  if (!xattrs.ok()) return;
  for (const sys::Xattr& xattr : *xattrs) {
    if (!xattr.name.starts_with(kMetadataPrefix)) continue;
    wire::FileMetadata* metadata = entry.add_metadata();
    metadata->set_key(xattr.name.substr(kMetadataPrefix.size()));
    metadata->set_value(xattr.value);
  }
}

}  // namespace

Result<wire::FileEntry> describe(const std::string& path) {
  static const auto users = read_names("/etc/passwd");
  static const auto groups = read_names("/etc/group");
  struct stat own = PD_TRY(sys::lstat_path(path));
  struct stat target = own;
  wire::FileEntry entry;
  entry.set_path(path);
  if (S_ISLNK(own.st_mode)) {
    char resolved[PATH_MAX];
    if (::realpath(path.c_str(), resolved) != nullptr && ::stat(resolved, &target) == 0) {
      entry.set_symlink_target(resolved);
    }
  }
  entry.set_kind(kind_of(target.st_mode));
  entry.set_size(static_cast<uint64_t>(own.st_size));
  entry.set_mode(own.st_mode);
  entry.set_target_mode(target.st_mode);
  entry.set_owner(name_of(users, own.st_uid));
  entry.set_group(name_of(groups, own.st_gid));
  entry.set_modified_ns(own.st_mtim.tv_sec * 1'000'000'000 + own.st_mtim.tv_nsec);
  if (entry.kind() != wire::FileEntry::OTHER) add_metadata(path, entry);
  return entry;
}

Status list(const std::string& path, uint64_t depth, wire::FilesReply& reply) {
  sys::DirFd directory = PD_TRY(sys::open_dir(path));
  for (const sys::DirEntry& child : PD_TRY(sys::list_dir(directory))) {
    if (static_cast<size_t>(reply.entries_size()) >= kMaxEntries) {
      reply.set_truncated(true);
      return {};
    }
    const std::string below = path == "/" ? "/" + child.name : path + "/" + child.name;
    auto entry = describe(below);
    if (!entry.ok()) continue;  // gone meanwhile
    const bool enter = depth > 1 && S_ISDIR(entry->mode());
    *reply.add_entries() = std::move(*entry);
    if (!enter) continue;
    Status listed = list(below, depth - 1, reply);
    // What may not be entered is listed all the same, and so is what has just gone.
    const int error = listed.ok() ? 0 : listed.error().errno_value();
    if (error != 0 && error != EACCES && error != ENOENT && error != ENOTDIR) return listed;
  }
  return {};
}

}  // namespace paddock::agent::files
