#include "view/git/git_trees.h"

#include <fcntl.h>
#include <fmt/core.h>

#include "base/strings.h"
#include "sys/files.h"
#include "view/git/git_config.h"

namespace paddock::view {
namespace {

using model::HostPath;

constexpr size_t kPointerLimit = 64u << 10;  // `.git`, `commondir`, `gitdir`: one path each
constexpr size_t kConfigLimit = 4u << 20;
constexpr size_t kAlternatesLimit = 1u << 20;

// A regular file's bytes; not_found when there is none by that name.
Result<std::string> read_regular(const sys::DirFd& dir, const std::string& name, size_t limit) {
  struct stat st = PD_TRY(sys::lstat_at(dir, name));
  if (!S_ISREG(st.st_mode)) {
    return Error(Code::data_corrupt, printable(name) + " is not a regular file");
  }
  return sys::read_file_at(dir, name, limit);
}

std::string without_newlines(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

std::string absolute(const std::string& base, const std::string& path) {
  return !path.empty() && path[0] == '/' ? path : base + "/" + path;
}

// The directory or file that the one-path file `name` in `base` names, resolved.
Result<std::string> follow_pointer(const std::string& base, const sys::DirFd& dir,
                                   const std::string& name) {
  std::string target = without_newlines(PD_TRY(read_regular(dir, name, kPointerLimit)));
  if (target.empty()) return Error(Code::data_corrupt, printable(name) + " is empty");
  return sys::real_path(absolute(base, target));
}

Error distrust(const std::string& path, std::string_view why) {
  return Error(Code::permission_denied, fmt::format("`.git` names {}, {}", printable(path), why));
}

Status check_git_dir(const std::string& path) {
  auto is_dir = [&](const char* name) {
    auto st = sys::lstat_path(path + "/" + name);
    return st.ok() && S_ISDIR(st->st_mode);
  };
  if (sys::exists(path + "/HEAD") && is_dir("objects") && is_dir("refs")) return {};
  return distrust(path, "which is not a git directory");
}

// A linked worktree's git directory is <common>/worktrees/<name>, and its `gitdir` names the `.git`
// file of the checkout. Both must hold: the first alone would show any directory `worktrees/x` lies
// in.
Result<std::string> trusted_common_dir(const std::string& git_dir, const sys::DirFd& dir,
                                       const HostPath& workspace) {
  std::string common = PD_TRY(follow_pointer(git_dir, dir, "commondir"));
  size_t name = git_dir.find_last_of('/');
  if (git_dir.substr(0, name) != common + "/worktrees") {
    return distrust(git_dir, "which is not below worktrees/ of its common directory");
  }
  auto back = follow_pointer(git_dir, dir, "gitdir");
  if (!back.ok() || *back != (workspace / ".git").str()) {
    return distrust(git_dir, "which does not name this workspace as its worktree");
  }
  PD_TRY(check_git_dir(common));
  return common;
}

// A submodule's git directory names its checkout in core.worktree.
Status check_submodule(const std::string& git_dir, const sys::DirFd& dir,
                       const HostPath& workspace) {
  PD_TRY(check_git_dir(git_dir));
  for (const char* file : {"config", "config.worktree"}) {
    auto config = read_regular(dir, file, kConfigLimit);
    if (!config.ok()) continue;
    auto worktree = git_config_value(*config, "core", "worktree");
    if (!worktree) continue;
    auto real = sys::real_path(absolute(git_dir, *worktree));
    if (real.ok() && *real == workspace.str()) return {};
  }
  return distrust(git_dir, "whose core.worktree does not name this workspace");
}

Status check_apart(const HostPath& tree, const HostPath& workspace) {
  if (tree.contains(workspace)) return distrust(tree.str(), "which holds the workspace itself");
  return {};
}

// Fills `trees` for a workspace whose `.git` is a file.
Status follow_git_file(const Workspace& workspace, const Surroundings& around,
                       const sys::DirFd& root, GitTrees& trees) {
  constexpr std::string_view kPrefix = "gitdir: ";
  std::string text = without_newlines(PD_TRY(read_regular(root, ".git", kPointerLimit)));
  if (text.compare(0, kPrefix.size(), kPrefix) != 0) {
    return Error(Code::data_corrupt, "`.git` is a file that names no git directory");
  }
  std::string spelled = absolute(workspace.path.str(), text.substr(kPrefix.size()));
  HostPath git_dir(PD_TRY_CTX("following `.git`", sys::real_path(spelled)));
  sys::DirFd dir = PD_TRY_CTX("following `.git`", sys::open_dir(git_dir.str()));
  HostPath tree = git_dir;
  if (sys::lstat_at(dir, "commondir").ok()) {
    tree = HostPath(PD_TRY(trusted_common_dir(git_dir.str(), dir, workspace.path)));
  } else if (!workspace.path.contains(git_dir)) {
    PD_TRY(check_submodule(git_dir.str(), dir, workspace.path));
  }
  if (!workspace.path.contains(tree)) {
    PD_TRY(check_apart(tree, workspace.path));
    PD_TRY(check_exposure(tree, around));
    trees.outside.push_back(tree);
    for (model::Symlink& link : links_on_path(spelled)) {
      HostPath at(link.at.str());
      if (!tree.contains(at) && !workspace.path.contains(at))
        trees.links.push_back(std::move(link));
    }
  }
  trees.git_dir = std::move(git_dir);
  trees.common_dir = std::move(tree);
  return {};
}

model::Control missing(std::string detail) {
  return {"git", model::ControlState::refused, std::move(detail)};
}

// Objects that the repository borrows from another one cannot be shown: nothing in that one names
// this workspace, so the file may have been planted.
void report_alternates(const Workspace& workspace, GitTrees& trees) {
  if (trees.common_dir.empty()) return;
  auto dir = sys::open_dir(trees.common_dir.str());
  if (!dir.ok()) return;
  auto text = sys::read_file_at(*dir, "objects/info/alternates", kAlternatesLimit);
  if (!text.ok()) return;
  std::string objects = (trees.common_dir / "objects").str();
  for (const std::string& line : split(*text, '\n')) {
    if (line.empty() || line[0] == '#') continue;
    auto real = sys::real_path(absolute(objects, line));
    if (!real.ok() || workspace.path.contains(HostPath(*real)) ||
        trees.common_dir.contains(HostPath(*real))) {
      continue;
    }
    std::string shown = printable(*real);
    trees.controls.push_back(
        missing(fmt::format("objects that the repository borrows from {} are not seen "
                            "inside; give them with --mount {}:{}:ro",
                            shown, shown, shown)));
  }
}

}  // namespace

GitTrees find_git_trees(const Workspace& workspace, const Surroundings& around) {
  GitTrees trees;
  auto root = sys::open_dir(workspace.path.str());
  if (!root.ok()) return trees;
  auto st = sys::lstat_at(*root, ".git");
  if (!st.ok()) return trees;
  if (S_ISDIR(st->st_mode)) {
    trees.git_dir = trees.common_dir = workspace.path / ".git";
  } else if (S_ISREG(st->st_mode)) {
    Status followed = follow_git_file(workspace, around, *root, trees);
    if (!followed.ok()) {
      trees = {};
      trees.controls.push_back(
          missing("git finds no repository inside: " + followed.error().describe()));
    }
  } else {
    trees.controls.push_back(missing(
        "git finds no repository inside: `.git` is a link, which is not followed; make it a "
        "linked worktree (git worktree add)"));
  }
  report_alternates(workspace, trees);
  return trees;
}

}  // namespace paddock::view
