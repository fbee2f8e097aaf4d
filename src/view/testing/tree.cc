#include "view/testing/tree.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdlib>

#include "base/strings.h"
#include "sys/files.h"
#include "sys/xattr.h"

namespace paddock::view::testing {
namespace {

using model::FileType;

void require(bool ok, const std::string& what) {
  if (ok) return;
  fmt::print(stderr, "test set-up failed: {}: {}\n", printable(what), errno);
  std::abort();
}

void set_xattrs(const std::string& path, const Node& node) {
  if (node.xattrs.empty()) return;
  sys::FileFd fd = sys::open_file(path, O_RDONLY).value();
  for (const auto& [name, value] : node.xattrs) {
    require(sys::set_xattr(fd, {name, value}).ok(), path + " " + name);
  }
}

void write_node(const std::string& path, const Node& node) {
  switch (node.type) {
    case FileType::regular:
      write_file(path, node.content, node.mode);
      set_xattrs(path, node);
      return;
    case FileType::symlink:
      require(::symlink(node.content.c_str(), path.c_str()) == 0, path);
      return;
    case FileType::directory:
      require(::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST, path);
      set_xattrs(path, node);
      return;
    default:
      require(::mkfifo(path.c_str(), 0600) == 0, path);
  }
}

Node read_node(const std::string& path) {
  struct stat st = sys::lstat_path(path).value();
  if (S_ISLNK(st.st_mode)) {
    std::string target(4096, '\0');
    target.resize(static_cast<size_t>(::readlink(path.c_str(), target.data(), target.size())));
    return symlink_to(target);
  }
  if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) return {FileType::other, 0, "", {}};
  Node node = S_ISDIR(st.st_mode) ? directory(st.st_mode & 07777)
                                  : file(sys::read_file(path).value(), st.st_mode & 07777);
  sys::FileFd fd = sys::open_file(path, O_RDONLY).value();
  std::vector<sys::Xattr> xattrs = sys::read_xattrs(fd).value();
  for (const sys::Xattr& xattr : xattrs) {
    if (xattr.name.substr(0, 5) == "user.") node.xattrs[xattr.name] = xattr.value;
  }
  return node;
}

void read_below(const std::string& root, const std::string& path, Tree& tree) {
  std::string at = path.empty() ? root : root + "/" + path;
  sys::DirFd dir = sys::open_dir(at).value();
  std::vector<sys::DirEntry> entries = sys::list_dir(dir).value();
  for (const sys::DirEntry& entry : entries) {
    std::string child = path.empty() ? entry.name : path + "/" + entry.name;
    Node node = read_node(root + "/" + child);
    bool is_dir = node.type == FileType::directory;
    tree[child] = std::move(node);
    if (is_dir) read_below(root, child, tree);
  }
}

}  // namespace

Node file(std::string content, mode_t mode) {
  return {FileType::regular, mode, std::move(content), {}};
}
Node symlink_to(std::string target) {
  return {FileType::symlink, 0, std::move(target), {}};
}
Node directory(mode_t mode) {
  return {FileType::directory, mode, "", {}};
}

void write_file(const std::string& path, const std::string& content, mode_t mode) {
  sys::FileFd fd = sys::open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0600).value();
  require(sys::write_all(fd, content).ok(), path);
  require(::fchmod(fd.get(), mode) == 0, path);
}

void write_tree(const std::string& dir, const Tree& tree) {
  require(::mkdir(dir.c_str(), 0755) == 0 || errno == EEXIST, dir);
  for (const auto& [path, node] : tree) write_node(dir + "/" + path, node);
  for (auto it = tree.rbegin(); it != tree.rend(); ++it) {
    if (it->second.type != FileType::directory) continue;
    require(::chmod((dir + "/" + it->first).c_str(), it->second.mode) == 0, it->first);
  }
}

Tree read_tree(const std::string& dir) {
  Tree tree;
  read_below(dir, "", tree);
  return tree;
}

void make_whiteout(const std::string& path) {
  require(::mknod(path.c_str(), S_IFCHR, makedev(0, 0)) == 0, path);
}

void make_opaque(const std::string& dir) {
  sys::FileFd fd = sys::open_file(dir, O_RDONLY | O_DIRECTORY).value();
  require(sys::set_xattr(fd, {"user.overlay.opaque", "y"}).ok(), dir);
}

std::string difference(const Tree& expected, const Tree& actual) {
  auto show = [](const Node& node) {
    return fmt::format("{} {:o} {} {} attributes", name_of(model::kFileTypeNames, node.type),
                       node.mode, printable(node.content.substr(0, 60)), node.xattrs.size());
  };
  std::string out;
  for (const auto& [path, node] : expected) {
    auto found = actual.find(path);
    if (found == actual.end()) {
      out += fmt::format("missing {}: {}\n", printable(path), show(node));
    } else if (!(found->second == node)) {
      out +=
          fmt::format("{}: expected {}, is {}\n", printable(path), show(node), show(found->second));
    }
  }
  for (const auto& [path, node] : actual) {
    if (expected.count(path) == 0) {
      out += fmt::format("unexpected {}: {}\n", printable(path), show(node));
    }
  }
  return out;
}

}  // namespace paddock::view::testing
