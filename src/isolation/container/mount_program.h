// What PID 1 of a container does to its mount namespace, as data. The parent builds it
// (mount_program_builder.h), the child runs it between clone and exec (mount_runner.h), and when a
// step fails the parent tells the user which one by describe().
//
// Two places are written to: the *scratch*, a tmpfs of the sandbox that holds what is private and
// thrown away (its directories are bound to /tmp, HOME …; uppers without a place on the host lie
// there) and the names under which overlays find their layers; and the *root*, which becomes `/`.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace paddock::isolation::container {

// Keys and values for fsconfig(2); each at most 255 bytes.
using FsOptions = std::vector<std::pair<std::string, std::string>>;

// A tree of the host: a path that the child opens in its own mount namespace, or, when `fd` is set,
// a detached mount that the parent made and the child inherits.
struct Source {
  std::string path;
  int fd = -1;
};

enum class Node { directory, file };
// Whether a missing mount point may be made: never where that would write to the host or a view.
enum class Missing { create, refuse };

// A place below the root: relative, no leading slash. Empty: the root itself.
struct Target {
  std::string path;
  Node node = Node::directory;
  Missing missing = Missing::create;
};

namespace step {

// The scratch tmpfs, mounted over the host's `/`, where nobody but us sees it.
struct MountScratch {
  FsOptions options;
};
struct ScratchDirectory {
  std::string name;
  mode_t mode = 0755;
  uid_t owner = 0;  // and group
};
struct ScratchFile {
  std::string name;
  mode_t mode = 0444;
};
// Gives a host tree a clean name in the scratch: overlay options cannot carry colons and commas.
struct NameLayer {
  std::string name;
  Source source;
};
struct ScratchSymlink {
  std::string name;
  std::string target;
};
// The root as a tmpfs of its own that holds nothing but mount points and symlinks.
struct MountRoot {
  FsOptions options;
};
// `options` name layers relative to the scratch. An empty target makes it the root.
struct MountOverlay {
  std::string name;  // mount point in the scratch, before it is moved to its target
  std::string options;
  Target at;
};
struct BindTree {
  Source source;
  uint64_t attributes = 0;  // MOUNT_ATTR_*
  Target at;
};
struct BindScratch {
  std::string name;
  uint64_t attributes = 0;
  Target at;
};
struct MountFileSystem {
  std::string type;
  FsOptions options;
  uint64_t attributes = 0;
  Target at;
};
// A device node of the host, taken only if it is that device.
struct BindDevice {
  std::string source;
  dev_t device = 0;
  Target at;
};
struct MakeSymlink {
  Target at;
  std::string target;
};
// Puts an empty, read-only file or directory over what is there. Nothing there: nothing done.
struct Mask {
  std::string path;
};
// Makes the subtree at `path` read-only. Nothing there: nothing done.
struct MakeReadOnly {
  std::string path;
};
// Makes the root mount itself read-only (not what is mounted below it).
struct SealRoot {};
// Makes the root `/` and lets go of the host's tree.
struct EnterRoot {};

}  // namespace step

using Step =
    std::variant<step::MountScratch, step::ScratchDirectory, step::ScratchFile, step::NameLayer,
                 step::ScratchSymlink, step::MountRoot, step::MountOverlay, step::BindTree,
                 step::BindScratch, step::MountFileSystem, step::BindDevice, step::MakeSymlink,
                 step::Mask, step::MakeReadOnly, step::SealRoot, step::EnterRoot>;

using MountProgram = std::vector<Step>;

// Names in the scratch of what Mask puts over things.
inline constexpr const char* kMaskFile = "mask-file";
inline constexpr const char* kMaskDirectory = "mask-dir";

// "mounting the overlay at /w", for messages.
std::string describe(const Step& step);

}  // namespace paddock::isolation::container
