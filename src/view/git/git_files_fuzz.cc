// Files of a repository are written by the code that was confined. The first byte says which file
// the rest is. Seeds: fuzz_seeds/git_files/.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/testing/fuzz.h"
#include "view/git/git_config.h"
#include "view/git/git_index.h"
#include "view/hide/hide_patterns.h"
#include "view/hide/mask_index.h"

namespace paddock::view {
namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

void try_config(std::string_view text) {
  auto value = git_config_value(text, "core", "worktree");
  require(!value || value->size() <= text.size() + 4, "a value longer than its file");
}

// Two files, cut in the middle.
void try_index(std::string_view bytes) {
  std::string_view a = bytes.substr(0, bytes.size() / 2), b = bytes.substr(bytes.size() / 2);
  require(same_git_index(a, a), "an index differs from itself");
  require(same_git_index(a, b) == same_git_index(b, a), "sameness depends on the order");
  (void)same_git_index(bytes, a);
}

void try_mask_index(std::string_view bytes) {
  auto index = decode_mask_index(bytes);
  if (!index.ok()) return;
  require(encode(*index) == bytes, "an index is read as another than was written");
  (void)hidden_paths(*index);
}

void try_patterns(std::string_view text) {
  size_t cut = text.find('\n');
  if (cut == std::string_view::npos) return;
  std::string pattern(text.substr(0, cut)), path(text.substr(cut + 1));
  HidePatterns patterns({pattern}, {});
  size_t slash = path.find_last_of('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  bool other = patterns.hides(name, path, EntryKind::other);
  require(!other || patterns.hides(name, path, EntryKind::directory),
          "a directory escapes what hides a file");
  require(!HidePatterns({pattern}, {pattern}).hides(name, path, EntryKind::other),
          "shown and hidden");
}

}  // namespace
}  // namespace paddock::view

PD_FUZZ_TARGET(git_files) {
  if (bytes.empty()) return;
  const char kind = bytes[0];
  bytes.remove_prefix(1);
  if (kind == 'c') paddock::view::try_config(bytes);
  if (kind == 'i') paddock::view::try_index(bytes);
  if (kind == 'm') paddock::view::try_mask_index(bytes);
  if (kind == 'p') paddock::view::try_patterns(bytes);
}
