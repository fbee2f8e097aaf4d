// One object of a tree, looked at through the descriptor of its directory.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "model/change.h"
#include "sys/fd.h"

namespace paddock::view {

struct Object {
  model::FileState state;  // digest not read; type absent: nothing there
  uint64_t ino = 0;
  uint64_t links = 0;
  uid_t uid = 0;
  gid_t gid = 0;
  int64_t mtime_ns = 0;
  int64_t ctime_ns = 0;
  bool readable = true;  // false: this process may not open it, so attributes are not known

  bool is(model::FileType type) const { return state.type == type; }
  bool exists() const { return state.type != model::FileType::absent; }
};

// What a layer has at a name, by the conventions of overlayfs (userxattr).
struct LayerObject {
  Object object;
  bool whiteout = false;   // a character device 0:0
  bool opaque = false;     // a directory that hides what is below it
  bool copied_up = false;  // overlayfs noted a lower object that this one came from
};

// `name` is one component; a symlink is looked at, never followed. Absent is a value.
Result<Object> examine(const sys::DirFd& dir, const std::string& name);

// data_corrupt where the layer needs overlay features that views never use (metacopy, redirect):
// what it shows is not what the sandbox saw.
Result<LayerObject> examine_layer(const sys::DirFd& dir, const std::string& name);

// The object behind an open descriptor (a regular file or directory).
Result<Object> examine_open(const sys::Fd& fd);

// Opens a regular file for reading. failed_precondition when it is something else by now.
Result<sys::FileFd> open_regular(const sys::DirFd& dir, const std::string& path);

// Same type, permission bits (0777), link target and attributes; bytes are not compared.
bool same_but_bytes(const model::FileState& a, const model::FileState& b);

}  // namespace paddock::view
