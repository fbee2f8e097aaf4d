#include "engine/trusted_path.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <cerrno>
#include <deque>
#include <optional>

#include "base/strings.h"
#include "sys/files.h"

namespace paddock::engine {
namespace {

using model::HostPath;

constexpr int kMaxLinks = 40;  // as the kernel's MAXSYMLINKS

// A tree that nobody trusts, by its name and by what it is: a bind mount gives it another name.
struct Tree {
  HostPath path;
  std::optional<struct stat> is;
};

std::vector<Tree> look_at(const std::vector<HostPath>& untrusted) {
  std::vector<Tree> trees;
  for (const HostPath& path : untrusted) {
    auto st = sys::stat_path(path.str());
    trees.push_back({path, st.ok() ? std::optional(*st) : std::nullopt});
  }
  return trees;
}

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

Status check_outside(const HostPath& place, const struct stat* st, const std::vector<Tree>& trees) {
  for (const Tree& tree : trees) {
    const bool is_it = st != nullptr && tree.is && is_same(*st, *tree.is);
    if (!is_it && !tree.path.contains(place)) continue;
    return Error(Code::permission_denied,
                 fmt::format("{} lies in {}, whose content is not the host's own",
                             printable(place.str()), printable(tree.path.str())))
        .set_remedy("name one outside of the workspace and of what may be written inside");
  }
  return {};
}

void push_front(std::deque<std::string>& todo, const std::string& path) {
  const std::vector<std::string> parts = split(path, '/');
  todo.insert(todo.begin(), parts.begin(), parts.end());
}

HostPath parent_of(const HostPath& path) {
  const size_t slash = path.str().find_last_of('/');
  return HostPath(slash == 0 ? "/" : path.str().substr(0, slash));
}

}  // namespace

Result<HostPath> resolve_outside(const std::string& path, const std::vector<HostPath>& untrusted) {
  const sys::DirFd root = PD_TRY(sys::open_dir("/"));
  const std::vector<Tree> trees = look_at(untrusted);
  std::deque<std::string> todo;
  push_front(todo, path);
  HostPath at("/");
  for (int links = 0; !todo.empty();) {
    const std::string part = todo.front();
    todo.pop_front();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      at = parent_of(at);
      continue;
    }
    const HostPath next = at / part;
    PD_TRY(check_outside(next, nullptr, trees));  // by name first: it need not even be there
    const struct stat st = PD_TRY(sys::lstat_path(next.str()));
    PD_TRY(check_outside(next, &st, trees));
    if (!S_ISLNK(st.st_mode)) {
      at = next;
      continue;
    }
    if (++links > kMaxLinks) return Error::from_errno(ELOOP, "resolving " + printable(path));
    const std::string target = PD_TRY(sys::read_link_at(root, next.str().substr(1)));
    if (target.starts_with('/')) at = HostPath("/");
    push_front(todo, target);
  }
  return at;
}

}  // namespace paddock::engine
