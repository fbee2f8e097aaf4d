#include "view/hide/mask.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "sys/clock.h"
#include "sys/digest.h"
#include "sys/fault_point.h"
#include "sys/files.h"
#include "sys/path_lock.h"
#include "view/hide/hide_patterns.h"
#include "view/hide/mask_index.h"
#include "view/hide/mask_scan.h"
#include "view/hide/mask_tree.h"

namespace paddock::view {
namespace {

using model::HostPath;

constexpr size_t kMaxMaskIndex = 2ull << 30;
// Part of the key: raised when the layer or the index is made in another way.
constexpr std::string_view kFormat = "1";
// Not in Linux 6.1's magic.h.
constexpr long kZfsMagic = 0x2fc12fc1;
constexpr long kBcachefsMagic = 0xca451a4e;

// Local file systems, where every change of a directory's entries moves its times.
constexpr std::array kTrustedTimes{long{EXT4_SUPER_MAGIC},
                                   long{XFS_SUPER_MAGIC},
                                   long{BTRFS_SUPER_MAGIC},
                                   long{TMPFS_MAGIC},
                                   long{F2FS_SUPER_MAGIC},
                                   long{OVERLAYFS_SUPER_MAGIC},
                                   kZfsMagic,
                                   kBcachefsMagic};

HostPath masks_dir(const HostPath& home) {
  return home / "masks";
}

std::string key_of(const HostPath& workspace, const model::FileRules& rules) {
  std::string text(kFormat);
  auto add = [&](const std::string& part) { text.append(1, '\0').append(part); };
  add(workspace.str());
  for (const std::string& pattern : rules.hide) add("-" + pattern);
  for (const std::string& pattern : rules.show) add("+" + pattern);
  return sys::sha256_hex(text).substr(0, 32);
}

bool trusts_times(const sys::DirFd& workspace) {
  struct statfs fs {};
  if (::fstatfs(workspace.get(), &fs) != 0) return false;
  return std::find(kTrustedTimes.begin(), kTrustedTimes.end(), static_cast<long>(fs.f_type)) !=
         kTrustedTimes.end();
}

// A missing or damaged index means that everything is read again.
std::optional<MaskIndex> read_index(const HostPath& directory) {
  auto bytes = sys::read_file((directory / "index").str(), kMaxMaskIndex);
  if (!bytes.ok()) return std::nullopt;
  auto index = decode_mask_index(*bytes);
  return index.ok() ? std::optional(std::move(index).value()) : std::nullopt;
}

// Not synced: what a loss of power leaves of it is found to be damaged.
Status write_index(const HostPath& directory, const MaskIndex& index) {
  std::string next = (directory / "index.new").str();
  sys::FileFd file = PD_TRY(sys::open_file(next, O_WRONLY | O_CREAT | O_TRUNC, 0600));
  PD_TRY(sys::write_all(file, encode(index)));
  if (::rename(next.c_str(), (directory / "index").c_str()) == 0) return {};
  return Error::from_errno(errno, "writing the index of hidden files");
}

// The directory of a mask, held against collection. It may be collected between making and locking
// it.
Result<sys::FileFd> hold(const HostPath& directory, const HostPath& workspace) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    PD_TRY(sys::make_dirs(directory.str(), 0700));
    auto use = sys::lock_path((directory / "use").str(), sys::LockMode::shared, sys::LockWait::yes);
    if (!use.ok() && use.error().code() == Code::not_found) continue;
    if (use.ok() && !sys::exists((directory / "workspace").str())) {
      PD_TRY(sys::replace_file((directory / "workspace").str(), workspace.str(), 0600));
    }
    if (use.ok()) ::futimens(use->get(), nullptr);
    return use;
  }
  return Error(Code::unavailable, "the mask of the workspace is removed again and again");
}

Mask describe(const HostPath& directory, const MaskIndex& index) {
  Mask mask;
  mask.layer = directory / "tree";
  mask.hidden = hidden_paths(index);
  mask.foreign_owners = static_cast<size_t>(std::count_if(
      index.dirs.begin(), index.dirs.end(),
      [](const IndexedDir& dir) { return dir.is_mirrored() && (dir.flags & kForeignOwner) != 0; }));
  return mask;
}

Result<Mask> bring_up_to_date(const HostPath& directory, const HostPath& workspace,
                              const model::FileRules& rules) {
  sys::DirFd root = PD_TRY(sys::open_dir(workspace.str()));
  HidePatterns patterns(rules.hide, rules.show);
  std::optional<MaskIndex> previous = read_index(directory);
  ScanOptions options;
  options.previous = previous ? &*previous : nullptr;
  options.trust_times = trusts_times(root);
  auto scan = PD_TRY(scan_workspace(root, patterns, options));
  if (!scan) return describe(directory, *previous);
  sys::fault_point("mask.plant");
  PD_TRY(plant_mask({root, directory, patterns, *scan}));
  sys::fault_point("mask.index");
  PD_TRY(write_index(directory, scan->index));
  return describe(directory, scan->index);
}

// True when the mask in `directory` serves nobody and will not.
bool is_stale(const HostPath& directory, const sys::FileFd& use, uint64_t keep_seconds) {
  auto workspace = sys::read_file((directory / "workspace").str(), 1 << 16);
  if (!workspace.ok() || !sys::exists(*workspace)) return true;
  struct stat st {};
  if (::fstat(use.get(), &st) != 0) return false;
  int64_t age = sys::wall_clock_ms() / 1000 - st.st_mtim.tv_sec;
  return age > 0 && static_cast<uint64_t>(age) >= keep_seconds;
}

}  // namespace

Result<std::optional<Mask>> update_mask(const HostPath& home, const HostPath& workspace,
                                        const model::FileRules& rules) {
  if (rules.hide.empty()) return std::optional<Mask>();
  HostPath directory = masks_dir(home) / key_of(workspace, rules);
  sys::FileFd use = PD_TRY(hold(directory, workspace));
  std::string lock_path = (directory / "lock").str();
  sys::FileFd lock =
      PD_TRY(sys::lock_path(lock_path, sys::LockMode::exclusive, sys::LockWait::yes));
  Mask mask = PD_TRY_CTX("hiding the secrets of " + printable(workspace.str()),
                         bring_up_to_date(directory, workspace, rules));
  mask.use = std::move(use);
  return std::optional(std::move(mask));
}

Status collect_masks(const HostPath& home, uint64_t keep_seconds) {
  auto masks = sys::open_dir(masks_dir(home).str());
  if (!masks.ok()) return {};
  auto entries = PD_TRY(sys::list_dir(*masks));
  for (const sys::DirEntry& entry : entries) {
    HostPath directory = masks_dir(home) / entry.name;
    auto use =
        sys::lock_path((directory / "use").str(), sys::LockMode::exclusive, sys::LockWait::no);
    if (!use.ok() || !is_stale(directory, *use, keep_seconds)) continue;
    // `use` last: who waits for it finds it gone and makes the mask anew.
    sys::DirFd dir = PD_TRY(sys::open_dir(directory.str()));
    auto parts = PD_TRY(sys::list_dir(dir));
    for (const sys::DirEntry& part : parts) {
      if (part.name != "use") PD_TRY(sys::remove_tree_at(dir, part.name));
    }
    PD_TRY(sys::remove_tree(directory.str()));
  }
  return {};
}

}  // namespace paddock::view
