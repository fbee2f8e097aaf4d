// What a view changed, against the host tree it was opened on.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.h"

namespace paddock::model {

enum class FileType { absent, regular, directory, symlink, other };
inline constexpr EnumNames<FileType, 5> kFileTypeNames{{{FileType::absent, "absent"},
                                                        {FileType::regular, "regular"},
                                                        {FileType::directory, "directory"},
                                                        {FileType::symlink, "symlink"},
                                                        {FileType::other, "other"}}};

enum class ChangeKind { added, modified, deleted, renamed };
inline constexpr EnumNames<ChangeKind, 4> kChangeKindNames{{{ChangeKind::added, "added"},
                                                            {ChangeKind::modified, "modified"},
                                                            {ChangeKind::deleted, "deleted"},
                                                            {ChangeKind::renamed, "renamed"}}};

struct FileState {
  FileType type = FileType::absent;
  mode_t mode = 0;  // permission bits; setuid, setgid and sticky are kept here, never applied
  uint64_t size = 0;
  std::string digest;  // sha256 hex of a regular file's bytes; empty when not read
  std::string target;  // of a symlink
  std::map<std::string, std::string>
      xattrs;  // user.* of a file or directory, not the overlay's own
};

struct Change {
  std::string path;  // relative to the workspace; bytes
  ChangeKind kind = ChangeKind::modified;
  std::optional<std::string> from;  // where a rename came from
  FileState before;
  FileState after;
  std::string held_reason;   // why it is held back at apply; empty: it is not
  uint64_t added_lines = 0;  // of text; 0 for binary
  uint64_t deleted_lines = 0;
  bool binary = false;
  std::string link_of;  // hard link: the path whose inode this is too; empty: none
};

struct ChangeCounts {
  uint32_t added = 0, modified = 0, deleted = 0, renamed = 0, held = 0;
};

// A directory is listed when it is empty, when its own mode or attributes changed, and where it
// replaces something else or is replaced; otherwise the files below it imply it.
struct ChangeSet {
  std::vector<Change> changes;         // sorted by path
  std::vector<std::string> git_paths;  // changed at or below a .git: never applied as files
  std::vector<std::string> skipped;    // cannot be carried: sockets, devices, pipes, unreadable
};

}  // namespace paddock::model
