// Trees as values, and layers as overlayfs would write them. For tests.
#pragma once

#include <map>
#include <random>
#include <string>

#include "model/change.h"

namespace paddock::view::testing {

struct Node {
  model::FileType type = model::FileType::regular;
  mode_t mode = 0644;   // 0 for symlinks
  std::string content;  // bytes, or the target
  std::map<std::string, std::string> xattrs;
  bool operator==(const Node&) const = default;
};

// By relative path; directories have entries of their own.
using Tree = std::map<std::string, Node>;
using Random = std::mt19937;

Node file(std::string content, mode_t mode = 0644);
Node symlink_to(std::string target);
Node directory(mode_t mode = 0755);

// `dir` is made when absent. Directories get their modes last.
void write_tree(const std::string& dir, const Tree& tree);
// Sockets, pipes and devices read as FileType::other.
Tree read_tree(const std::string& dir);

void write_file(const std::string& path, const std::string& content, mode_t mode = 0644);
void make_whiteout(const std::string& path);
void make_opaque(const std::string& dir);

// Writes the upper that turns `lower` into `upper`, as overlayfs could have left it: `random`
// chooses between the forms that it has (opaque or merged, needless copies, whiteouts inside
// opaque).
void write_layer(const std::string& dir, const Tree& lower, const Tree& upper, Random& random);

// A small tree with awkward names, few different contents and every kind of entry.
Tree random_tree(Random& random);
// A tree that was edited from `tree`.
Tree random_edit(const Tree& tree, Random& random);

// One line per difference, empty when equal. Names what a test must print.
std::string difference(const Tree& expected, const Tree& actual);

}  // namespace paddock::view::testing
