#include <set>
#include <vector>

#include "sys/files.h"
#include "view/changes/change_stack.h"
#include "view/testing/tree.h"

namespace paddock::view::testing {
namespace {

using model::FileType;

size_t below(Random& random, size_t limit) {
  return random() % limit;
}

const std::vector<std::string>& names() {
  static const std::vector<std::string> list{"a", "a-b", "b", "B", "c\xff", "new\nline", "-x", " "};
  return list;
}

Node random_file(Random& random) {
  static const std::vector<std::string> contents{"",
                                                 "one\n",
                                                 "one\r\n",
                                                 "two\nlines\n",
                                                 std::string("bin\0ary", 7),
                                                 "no newline",
                                                 std::string(300, 'x') + "\n"};
  static const std::vector<mode_t> modes{0644, 0644, 0755, 0600};
  Node node = file(contents[below(random, contents.size())], modes[below(random, modes.size())]);
  if (below(random, 8) == 0) node.xattrs["user.note"] = std::string(1, "ab"[below(random, 2)]);
  return node;
}

Node random_leaf(Random& random) {
  if (below(random, 6) == 0) return symlink_to(names()[below(random, names().size())]);
  return random_file(random);
}

Node random_directory(Random& random) {
  return directory(below(random, 4) == 0 ? 0700 : 0755);
}

void fill(Tree& tree, const std::string& dir, int depth, Random& random) {
  for (const std::string& name : names()) {
    if (below(random, 2) == 0) continue;
    std::string path = child_of(dir, name);
    if (depth < 3 && below(random, 3) == 0) {
      tree[path] = random_directory(random);
      fill(tree, path, depth + 1, random);
    } else {
      tree[path] = random_leaf(random);
    }
  }
}

void remove_at(Tree& tree, const std::string& path) {
  for (auto it = tree.lower_bound(path); it != tree.end();) {
    it = is_at_or_below(it->first, path) ? tree.erase(it) : std::next(it);
  }
}

void move_to(Tree& tree, const std::string& from, const std::string& to) {
  Tree moved;
  for (const auto& [path, node] : tree) {
    if (is_at_or_below(path, from)) moved[to + path.substr(from.size())] = node;
  }
  remove_at(tree, from);
  remove_at(tree, to);
  tree.insert(moved.begin(), moved.end());
}

void change_mode(Node& node) {
  if (node.type == FileType::regular) node.mode ^= 0111;
  if (node.type == FileType::directory) node.mode ^= 0055;
}

void edit_once(Tree& tree, Random& random) {
  auto victim = std::next(tree.begin(), static_cast<long>(below(random, tree.size())));
  std::string path = victim->first;
  std::string sibling = child_of(parent_of(path), names()[below(random, names().size())]);
  switch (below(random, 7)) {
    case 0:
      remove_at(tree, path);
      break;
    case 1:  // becomes a file or link
      remove_at(tree, path);
      tree[path] = random_leaf(random);
      break;
    case 2:  // becomes another directory
      remove_at(tree, path);
      tree[path] = random_directory(random);
      fill(tree, path, 2, random);
      break;
    case 3:
      change_mode(victim->second);
      break;
    case 4:
      if (!is_at_or_below(sibling, path)) move_to(tree, path, sibling);
      break;
    case 5:
      remove_at(tree, sibling);
      tree[sibling] = random_leaf(random);
      break;
    default:
      if (victim->second.type == FileType::regular) victim->second = random_file(random);
  }
}

std::set<std::string> children(const Tree& tree, const std::string& dir) {
  std::set<std::string> found;
  for (const auto& [path, node] : tree) {
    if (parent_of(path) == dir) found.insert(name_of(path));
  }
  return found;
}

bool same_below(const Tree& a, const Tree& b, const std::string& dir) {
  auto part = [&](const Tree& tree) {
    Tree out;
    for (const auto& [path, node] : tree) {
      if (is_at_or_below(path, dir)) out[path] = node;
    }
    return out;
  };
  return part(a) == part(b);
}

class LayerWriter {
 public:
  LayerWriter(const std::string& root, const Tree& lower, const Tree& upper, Random& random)
      : root_(root), lower_(lower), upper_(upper), random_(random) {}

  enum class Below { merged, cut };

  void write(const std::string& dir, Below below_dir) {
    std::set<std::string> all = children(lower_, dir);
    for (const std::string& name : children(upper_, dir)) all.insert(name);
    for (const std::string& name : all) write_name(child_of(dir, name), below_dir);
  }

 private:
  void write_name(const std::string& path, Below below_dir) {
    auto lower = lower_.find(path);
    auto upper = upper_.find(path);
    bool has_lower = lower != lower_.end() && below_dir == Below::merged;
    if (upper == upper_.end()) {
      // A whiteout inside an opaque directory hides nothing, and occurs.
      if (has_lower || below(random_, 4) == 0) make_whiteout(root_ + "/" + path);
    } else if (upper->second.type != FileType::directory) {
      bool needed = !has_lower || !(lower->second == upper->second);
      if (needed || below(random_, 4) == 0) write_entry(path);
    } else {
      bool merges = has_lower && lower->second.type == FileType::directory;
      write_directory(path, merges);
    }
  }

  void write_directory(const std::string& path, bool merges) {
    if (merges && same_below(lower_, upper_, path) && below(random_, 4) != 0) return;
    write_entry(path);
    bool has_lower = lower_.count(path) > 0;
    bool opaque = (!merges && has_lower) || below(random_, 4) == 0;
    if (opaque) make_opaque(root_ + "/" + path);
    write(path, merges && !opaque ? Below::merged : Below::cut);
  }

  void write_entry(const std::string& path) { write_tree(root_, {{path, upper_.at(path)}}); }

  const std::string& root_;
  const Tree& lower_;
  const Tree& upper_;
  Random& random_;
};

}  // namespace

Tree random_tree(Random& random) {
  Tree tree;
  fill(tree, "", 0, random);
  return tree;
}

Tree random_edit(const Tree& tree, Random& random) {
  Tree edited = tree;
  for (size_t i = 1 + below(random, 6); i > 0; --i) {
    if (!edited.empty()) edit_once(edited, random);
  }
  return edited;
}

void write_layer(const std::string& dir, const Tree& lower, const Tree& upper, Random& random) {
  (void)sys::make_dir(dir, 0755).ok();
  LayerWriter(dir, lower, upper, random).write("", LayerWriter::Below::merged);
}

}  // namespace paddock::view::testing
