#include "view/hide/mask_scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "sys/clock.h"
#include "sys/files.h"

namespace paddock::view {
namespace {

constexpr size_t kMaxDirs = 8u << 20;
constexpr size_t kMaxHidden = 1u << 20;
constexpr size_t kMaxNames = 1u << 30;
// The layer is made with a descriptor a level; deeper directories are hidden as a whole.
constexpr size_t kMaxDepth = 256;
constexpr uint32_t kNone = 0xffffffff;

// Which directories of `index` are not as they were. One lstat each, by path from the root.
std::vector<bool> find_changed(const sys::DirFd& root, const MaskIndex& index) {
  struct Above {
    uint64_t end;        // first record that is no longer below
    size_t path_length;  // of its own path
  };
  std::vector<bool> changed(index.dirs.size(), false);
  std::vector<Above> above;
  std::string path;
  for (uint64_t i = 0; i < index.dirs.size(); ++i) {
    const IndexedDir& dir = index.dirs[i];
    while (!above.empty() && above.back().end == i) above.pop_back();
    path.resize(above.empty() ? 0 : above.back().path_length);
    if (!path.empty()) path += '/';
    path += index.text(dir.name);
    above.push_back({i + 1 + dir.descendants, path.size()});
    struct stat st {};
    int flags = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT;
    changed[i] = ::fstatat(root.get(), path.c_str(), &st, flags) != 0 || !S_ISDIR(st.st_mode) ||
                 DirIdentity::of(st) != dir.identity;
  }
  return changed;
}

// One directory while the new index is built.
struct Found {
  std::string name;
  DirIdentity identity;
  std::vector<std::string> hidden;
  uint32_t descendants = 0;
  bool is_mirrored = false;
  uint32_t kept_flags = 0;
  bool was_read = false;
};

struct Listing {
  std::vector<std::string> children;
  std::vector<std::string> hidden;
};

class Scanner {
 public:
  Scanner(const sys::DirFd& root, const HidePatterns& patterns, const ScanOptions& options,
          std::vector<bool> changed)
      : root_(root),
        patterns_(patterns),
        options_(options),
        previous_(options.previous),
        changed_(std::move(changed)) {}

  Result<MaskScan> run() {
    bool known = previous_ != nullptr;
    if (!PD_TRY(visit("", known ? 0 : kNone))) {
      return Error(Code::permission_denied, "the workspace cannot be read");
    }
    return flatten();
  }

 private:
  // Adds the directory at path_ and all below it. False: it cannot be read.
  Result<bool> visit(std::string name, uint32_t old) {
    if (found_.size() >= kMaxDirs) return too_many("directories");
    if (depth_ > kMaxDepth) return false;
    size_t at = found_.size();
    found_.emplace_back();
    found_[at].name = std::move(name);
    Listing listing;
    if (old != kNone && !changed_[old]) {
      listing = recall(old);
      found_[at].identity = previous_->dirs[old].identity;
      found_[at].kept_flags = previous_->dirs[old].flags & kForeignOwner;
    } else {
      auto read = read_dir(at);
      if (!read.ok()) {
        found_.resize(at);
        return false;
      }
      listing = std::move(read).value();
    }
    size_t readable_hidden = listing.hidden.size();
    PD_TRY(visit_children(listing, old));
    // Whether a child can be read may change without a trace in this directory.
    if (listing.hidden.size() > readable_hidden) found_[at].identity.ctime_ns = 0;
    hidden_total_ += listing.hidden.size();
    if (hidden_total_ > kMaxHidden) return too_many("hidden files");
    std::sort(listing.hidden.begin(), listing.hidden.end());
    found_[at].is_mirrored = found_[at].is_mirrored || !listing.hidden.empty();
    found_[at].hidden = std::move(listing.hidden);
    found_[at].descendants = static_cast<uint32_t>(found_.size() - at - 1);
    for (size_t child = at + 1; child < found_.size(); child += 1 + found_[child].descendants) {
      found_[at].is_mirrored = found_[at].is_mirrored || found_[child].is_mirrored;
    }
    return true;
  }

  // Children that cannot be read become hidden entries.
  Status visit_children(Listing& listing, uint32_t old) {
    uint32_t old_child = old == kNone ? kNone : old + 1;
    uint32_t old_end = old == kNone ? kNone : old + 1 + previous_->dirs[old].descendants;
    size_t length = path_.size();
    for (std::string& child : listing.children) {
      uint32_t match = kNone;
      while (old != kNone && old_child < old_end) {
        std::string_view old_name = previous_->text(previous_->dirs[old_child].name);
        if (old_name > child) break;
        if (old_name == child) match = old_child;
        old_child += 1 + previous_->dirs[old_child].descendants;
        if (match != kNone) break;
      }
      if (length > 0) path_ += '/';
      path_ += child;
      ++depth_;
      bool readable = PD_TRY(visit(child, match));
      --depth_;
      path_.resize(length);
      if (!readable) listing.hidden.push_back(std::move(child));
    }
    return {};
  }

  Listing recall(uint32_t old) const {
    const IndexedDir& dir = previous_->dirs[old];
    Listing listing;
    for (uint32_t i = 0; i < dir.hidden_count; ++i) {
      listing.hidden.emplace_back(previous_->text(previous_->hidden[dir.first_hidden + i]));
    }
    for (uint32_t child = old + 1; child <= old + dir.descendants;
         child += 1 + previous_->dirs[child].descendants) {
      listing.children.emplace_back(previous_->text(previous_->dirs[child].name));
    }
    return listing;
  }

  Result<Listing> read_dir(size_t at) {
    // Identity before the entries: what changes while we read differs next time.
    sys::DirFd dir = PD_TRY(sys::open_dir_at(root_, path_.empty() ? "." : path_));
    struct stat st {};
    if (::fstat(dir.get(), &st) != 0) return Error::from_errno(errno, "examining a directory");
    found_[at].identity = DirIdentity::of(st);
    found_[at].was_read = true;
    bool is_young = found_[at].identity.ctime_ns > sys::wall_clock_ns() - options_.settle_ns;
    if (is_young) found_[at].identity.ctime_ns = 0;
    Listing listing;
    for (sys::DirEntry& entry : PD_TRY(sys::list_dir(dir))) sort_in(dir, entry, listing);
    return listing;
  }

  void sort_in(const sys::DirFd& dir, sys::DirEntry& entry, Listing& listing) {
    if (entry.type == DT_UNKNOWN) {
      auto st = sys::lstat_at(dir, entry.name);
      entry.type = st.ok() && S_ISDIR(st->st_mode) ? DT_DIR : DT_REG;
    }
    EntryKind kind = entry.type == DT_DIR ? EntryKind::directory : EntryKind::other;
    std::string path = path_.empty() ? entry.name : path_ + "/" + entry.name;
    if (patterns_.hides(entry.name, path, kind)) {
      listing.hidden.push_back(std::move(entry.name));
    } else if (kind == EntryKind::directory && entry.name != ".git") {
      listing.children.push_back(std::move(entry.name));
    }
  }

  static Error too_many(std::string_view what) {
    return Error(Code::resource_exhausted,
                 "the workspace has too many " + std::string(what) + " to hide by pattern")
        .set_remedy("run in a smaller directory, or hide the directory that holds them as a whole");
  }

  Result<MaskScan> flatten() const {
    MaskScan scan;
    MaskIndex& index = scan.index;
    auto add_name = [&](const std::string& name) {
      IndexedName added{static_cast<uint32_t>(index.names.size()),
                        static_cast<uint32_t>(name.size())};
      index.names += name;
      return added;
    };
    for (const Found& found : found_) {
      IndexedDir dir;
      dir.identity = found.identity;
      dir.name = add_name(found.name);
      dir.descendants = found.descendants;
      dir.first_hidden = static_cast<uint32_t>(index.hidden.size());
      dir.hidden_count = static_cast<uint32_t>(found.hidden.size());
      dir.flags = found.kept_flags | (found.is_mirrored ? kMirrored : 0);
      for (const std::string& name : found.hidden) index.hidden.push_back(add_name(name));
      index.dirs.push_back(dir);
      scan.was_read.push_back(found.was_read);
      if (index.names.size() > kMaxNames) return too_many("names");
    }
    return scan;
  }

  const sys::DirFd& root_;
  const HidePatterns& patterns_;
  const ScanOptions& options_;
  const MaskIndex* previous_;
  std::vector<bool> changed_;  // by directory of previous_
  std::vector<Found> found_;   // preorder
  std::string path_;
  size_t depth_ = 0;
  size_t hidden_total_ = 0;
};

}  // namespace

Result<std::optional<MaskScan>> scan_workspace(const sys::DirFd& root, const HidePatterns& patterns,
                                               const ScanOptions& options) {
  std::vector<bool> changed;
  if (options.previous != nullptr) {
    changed = options.trust_times ? find_changed(root, *options.previous)
                                  : std::vector<bool>(options.previous->dirs.size(), true);
    if (std::find(changed.begin(), changed.end(), true) == changed.end())
      return std::optional<MaskScan>();
  }
  return std::optional(PD_TRY(Scanner(root, patterns, options, std::move(changed)).run()));
}

}  // namespace paddock::view
