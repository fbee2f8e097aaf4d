#include "api/e2b/entry_json.h"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <utility>

#include "api/e2b/json.h"
#include "base/strings.h"

namespace paddock::api::e2b {
namespace {

const char* type_of(wire::FileEntry::Kind kind) {
  switch (kind) {
    case wire::FileEntry::FILE:
      return "FILE_TYPE_FILE";
    case wire::FileEntry::DIRECTORY:
      return "FILE_TYPE_DIRECTORY";
    default:
      return "FILE_TYPE_UNSPECIFIED";
  }
}

}  // namespace

std::string text_of(const std::string& bytes) {
  return is_valid_utf8(bytes) ? bytes : printable(bytes);
}

std::string permissions_of(uint32_t mode) {
  constexpr std::array<std::pair<mode_t, char>, 6> kTypes{{{S_IFDIR, 'd'},
                                                           {S_IFLNK, 'L'},
                                                           {S_IFIFO, 'p'},
                                                           {S_IFSOCK, 'S'},
                                                           {S_IFBLK, 'D'},
                                                           {S_IFCHR, 'D'}}};
  std::string out;
  for (const auto& [type, letter] : kTypes) {
    if ((mode & S_IFMT) == type) out.push_back(letter);
  }
  if ((mode & S_IFMT) == S_IFCHR) out.push_back('c');
  if ((mode & S_ISUID) != 0) out.push_back('u');
  if ((mode & S_ISGID) != 0) out.push_back('g');
  if ((mode & S_ISVTX) != 0) out.push_back('t');
  if (out.empty()) out.push_back('-');
  constexpr std::string_view kBits = "rwxrwxrwx";
  for (size_t i = 0; i < kBits.size(); ++i) {
    out.push_back((mode & (0400u >> i)) != 0 ? kBits[i] : '-');
  }
  return out;
}

std::string base_name(const std::string& path) {
  return path == "/" ? path : path.substr(path.find_last_of('/') + 1);
}

boost::json::object metadata_of(const wire::FileEntry& entry) {
  boost::json::object metadata;
  for (const wire::FileMetadata& one : entry.metadata()) {
    metadata[text_of(one.key())] = text_of(one.value());
  }
  return metadata;
}

boost::json::object to_json(const wire::FileEntry& entry) {
  boost::json::object out;
  out["name"] = text_of(base_name(entry.path()));
  out["type"] = type_of(entry.kind());
  out["path"] = text_of(entry.path());
  out["size"] = std::to_string(entry.size());
  out["mode"] = entry.target_mode() & 0777;
  out["permissions"] = permissions_of(entry.mode());
  out["owner"] = text_of(entry.owner());
  out["group"] = text_of(entry.group());
  out["modifiedTime"] = timestamp(entry.modified_ns() / 1'000'000);
  if (!entry.symlink_target().empty()) out["symlinkTarget"] = text_of(entry.symlink_target());
  auto metadata = metadata_of(entry);
  if (!metadata.empty()) out["metadata"] = std::move(metadata);
  return out;
}

ConnectError file_error(const Error& error, const std::string& path) {
  const std::string shown = "'" + text_of(path) + "'";
  switch (error.errno_value()) {
    case ENOENT:
      return {ConnectCode::not_found, "path " + shown + " does not exist"};
    case ENOTDIR:
      return {ConnectCode::invalid_argument, "path " + shown + " is not a directory"};
    case EISDIR:
      return {ConnectCode::invalid_argument, "path " + shown + " is a directory"};
    default:
      return connect_error(error);
  }
}

}  // namespace paddock::api::e2b
