#include "view/changes/patch_headers.h"

#include "view/changes/patch_stream.h"

namespace paddock::view {
namespace {

// No line of a hunk or of a binary patch begins like this.
constexpr std::string_view kDiffHeader = "diff --git ";

// The name in "a/NAME b/NAME"; empty when the two differ (a rename, which names both in lines of
// their own) or are in quotes already.
std::string_view name_in(std::string_view names) {
  if (names.size() < 7 || names.size() % 2 == 0) return {};
  size_t half = names.size() / 2;
  std::string_view before = names.substr(0, half), after = names.substr(half + 1);
  bool plain = names[half] == ' ' && before.substr(0, 2) == "a/" && after.substr(0, 2) == "b/";
  if (!plain || before.substr(2) != after.substr(2)) return {};
  return before.substr(2);
}

}  // namespace

std::string quote_headers(std::string_view patch) {
  std::string quoted;
  quoted.reserve(patch.size());
  while (!patch.empty()) {
    size_t newline = patch.find('\n');
    size_t length = newline == std::string_view::npos ? patch.size() : newline + 1;
    std::string_view line = patch.substr(0, length);
    patch.remove_prefix(length);
    std::string_view name;
    if (line.substr(0, kDiffHeader.size()) == kDiffHeader && line.back() == '\n') {
      name = name_in(line.substr(kDiffHeader.size(), line.size() - kDiffHeader.size() - 1));
    }
    if (name.find(' ') == std::string_view::npos) {
      quoted += line;
      continue;
    }
    std::string text(name);
    quoted += kDiffHeader;
    quoted += quote_for_git("a/" + text) + " " + quote_for_git("b/" + text) + "\n";
  }
  return quoted;
}

}  // namespace paddock::view
