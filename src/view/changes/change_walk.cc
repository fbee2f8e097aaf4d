#include "view/changes/change_walk.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <map>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "sys/files.h"
#include "view/host_exec/host_exec_fold.h"

namespace paddock::view {
namespace {

using model::FileType;

constexpr size_t kMaxXattrBytes = 64u << 10;  // of one object: what Linux lets one value hold

struct Directory {
  std::string path;
  std::vector<size_t> layers;  // that contribute to it, newest first
  bool host_is_dir = false;    // the host has a directory here (not masked)
  bool host_shows = false;     // and its entries are in the view
  bool git = false;
};

// What the layers make of one name of a directory.
struct Resolved {
  std::optional<LayerObject> top;  // newest object; a whiteout counts
  size_t layer = kNoLayer;
  std::vector<size_t> merged;  // when top is a directory: layers whose directories merge
  bool host_shows = true;      // nothing cuts the host off
};

struct OpenDirectory {
  const Directory& at;
  std::vector<sys::DirFd> layers;                    // as at.layers
  std::map<std::string, std::vector<size_t>> names;  // name -> indices into `layers`
  sys::DirFd host;                                   // open when at.host_is_dir
};

size_t xattr_bytes(const model::FileState& state) {
  size_t bytes = 0;
  for (const auto& [name, value] : state.xattrs) bytes += name.size() + value.size();
  return bytes;
}

bool is_missing(const Error& error) {
  return error.errno_value() == ENOENT || error.errno_value() == ENOTDIR;
}

class Walker {
 public:
  Walker(const OpenStack& stack, NewDirectories new_directories)
      : stack_(stack), new_directories_(new_directories) {}

  Result<Walked> run() {
    Directory root;
    for (size_t i = 0; i < stack_.layer_count(); ++i) root.layers.push_back(i);
    root.host_is_dir = root.host_shows = true;
    pending_.push_back(std::move(root));
    while (!pending_.empty()) {
      Directory next = std::move(pending_.back());
      pending_.pop_back();
      PD_TRY_CTX("comparing " + printable(next.path.empty() ? "." : next.path), visit(next));
    }
    forget_moved_origins();
    std::sort(out_.touched.begin(), out_.touched.end(),
              [](const Touched& a, const Touched& b) { return a.path < b.path; });
    std::sort(out_.skipped.begin(), out_.skipped.end());
    return std::move(out_);
  }

 private:
  Status visit(const Directory& dir) {
    OpenDirectory open = PD_TRY(open_directory(dir));
    for (const auto& [name, holders] : open.names) PD_TRY(visit_name(open, name, holders));
    if (dir.host_is_dir && !dir.host_shows) PD_TRY(visit_lost_names(open));
    return {};
  }

  Result<OpenDirectory> open_directory(const Directory& dir) {
    OpenDirectory open{dir, {}, {}, {}};
    for (size_t layer : dir.layers) {
      open.layers.push_back(PD_TRY(open_dir_in(stack_.layer(layer), dir.path)));
      for (sys::DirEntry& entry : PD_TRY(sys::list_dir(open.layers.back()))) {
        open.names[std::move(entry.name)].push_back(open.layers.size() - 1);
      }
    }
    if (dir.host_is_dir) {
      Result<sys::DirFd> host = open_dir_in(stack_.host(), dir.path);
      // Gone since its parent was looked at: then it has nothing.
      if (!host.ok() && !is_missing(host.error())) return std::move(host).error();
      if (host.ok()) open.host = std::move(*host);
    }
    return open;
  }

  Result<Resolved> resolve(const OpenDirectory& open, const std::string& name,
                           const std::vector<size_t>& holders) {
    Resolved resolved;
    for (size_t index : holders) {
      LayerObject found = PD_TRY(examine_layer(open.layers[index], name));
      if (!found.object.exists()) continue;
      found.object.state.mode = stack_.mode_of(found.object.ino, found.object.state.mode);
      bool is_dir = found.object.is(FileType::directory);
      if (resolved.top && !is_dir) {  // a directory covers what is not one
        resolved.host_shows = false;
        return resolved;
      }
      bool opaque = found.opaque;
      if (is_dir) resolved.merged.push_back(open.at.layers[index]);
      if (!resolved.top) {
        resolved.layer = open.at.layers[index];
        resolved.top = std::move(found);
      }
      if (!is_dir || opaque) {
        resolved.host_shows = false;
        return resolved;
      }
    }
    return resolved;
  }

  Status visit_name(const OpenDirectory& open, const std::string& name,
                    const std::vector<size_t>& holders) {
    std::string path = child_of(open.at.path, name);
    if (path.size() >= PATH_MAX) return skip(path);
    Resolved resolved = PD_TRY(resolve(open, name, holders));
    if (!resolved.top) return {};
    LayerObject& top = *resolved.top;
    if (!top.whiteout && (top.object.is(FileType::other) || !top.object.readable ||
                          xattr_bytes(top.object.state) > kMaxXattrBytes)) {
      return skip(path);
    }
    Touched touched = PD_TRY(look_at_host(open, name, path));
    bool host_was_dir = touched.host.is(FileType::directory);
    bool is_dir = !top.whiteout && top.object.is(FileType::directory);
    if (is_dir) enter(resolved, open, touched, host_was_dir);
    if (!is_dir && host_was_dir) lose(path, touched.git);
    bool replaced = touched.host.exists() && !is_dir && !top.copied_up;
    moves_ = moves_ || top.whiteout || top.opaque || replaced;
    if (top.whiteout && !touched.host.exists()) return {};
    touched.copied_up = top.copied_up;
    touched.layer = top.whiteout ? kNoLayer : resolved.layer;
    if (!top.whiteout) touched.after = std::move(top.object);
    return keep(std::move(touched));
  }

  Result<Touched> look_at_host(const OpenDirectory& open, const std::string& name,
                               const std::string& path) {
    Touched touched;
    touched.path = path;
    touched.git = open.at.git || fold_name(name) == ".git";
    if (std::optional<std::string> masked = stack_.hidden_root(path)) {
      touched.hidden = PD_TRY(host_has(*masked));
    } else if (open.host.is_open()) {
      touched.host = PD_TRY(examine(open.host, name));
    }
    return touched;
  }

  // A masked path counts as long as the host has something there.
  Result<bool> host_has(const std::string& path) {
    Result<sys::DirFd> parent = open_dir_in(stack_.host(), parent_of(path));
    if (!parent.ok()) {
      if (is_missing(parent.error())) return false;
      return std::move(parent).error();
    }
    return PD_TRY(examine(*parent, view::name_of(path))).exists();
  }

  void enter(const Resolved& resolved, const OpenDirectory& open, const Touched& touched,
             bool host_was_dir) {
    if (!host_was_dir && new_directories_ == NewDirectories::stop) return;
    Directory next;
    next.path = touched.path;
    next.layers = resolved.merged;
    next.host_is_dir = host_was_dir;
    next.host_shows = host_was_dir && open.at.host_shows && resolved.host_shows;
    next.git = touched.git;
    pending_.push_back(std::move(next));
  }

  // A name that the host does not have may hold what was moved or linked there from another name:
  // an origin says where the bytes came from, not that the host had something under this name.
  void forget_moved_origins() {
    for (Touched& touched : out_.touched) {
      bool elsewhere = moves_ || touched.after.links > 1;
      if (!touched.host.exists() && elsewhere) touched.copied_up = false;
    }
  }

  // Everything that the host has below `path` is gone from the view.
  void lose(const std::string& path, bool git) {
    pending_.push_back(Directory{path, {}, true, false, git});
  }

  Status visit_lost_names(const OpenDirectory& open) {
    if (!open.host.is_open()) return {};
    for (const sys::DirEntry& entry : PD_TRY(sys::list_dir(open.host))) {
      if (open.names.count(entry.name) > 0) continue;
      std::string path = child_of(open.at.path, entry.name);
      if (stack_.hidden_root(path)) continue;
      Touched touched = PD_TRY(look_at_host(open, entry.name, path));
      touched.went_with_directory = true;
      if (touched.host.is(FileType::directory)) lose(path, touched.git);
      if (touched.host.exists()) PD_TRY(keep(std::move(touched)));
    }
    return {};
  }

  Status skip(const std::string& path) {
    out_.skipped.push_back(path);
    return within_limit();
  }

  Status keep(Touched touched) {
    out_.touched.push_back(std::move(touched));
    return within_limit();
  }

  Status within_limit() {
    if (out_.touched.size() + out_.skipped.size() <= kMaxTouched) return {};
    return Error(Code::resource_exhausted,
                 fmt::format("the view touches more than {} paths", kMaxTouched))
        .set_remedy("discard the view, or remove generated trees in it and end that command");
  }

  const OpenStack& stack_;
  NewDirectories new_directories_;
  std::vector<Directory> pending_;
  bool moves_ =
      false;  // a name was taken away in some layer: something may have been moved from it
  Walked out_;
};

}  // namespace

Result<Walked> walk_stack(const OpenStack& stack, NewDirectories new_directories) {
  return Walker(stack, new_directories).run();
}

}  // namespace paddock::view
