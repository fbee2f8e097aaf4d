#include "view/hide/hide_patterns.h"

#include <algorithm>

#include "base/strings.h"

namespace paddock::view {
namespace {

constexpr std::string_view kSpecial = "*?[\\";

bool is_plain(std::string_view text) {
  return text.find_first_of(kSpecial) == std::string_view::npos;
}

}  // namespace

HidePatterns::Set::Set(const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) add(pattern);
}

void HidePatterns::Set::add(std::string_view pattern) {
  bool directories_only = false;
  while (!pattern.empty() && pattern.back() == '/') {
    directories_only = true;
    pattern.remove_suffix(1);
  }
  bool anchored = !pattern.empty() && pattern[0] == '/';
  while (!pattern.empty() && pattern[0] == '/') pattern.remove_prefix(1);
  while (pattern.compare(0, 2, "./") == 0) pattern.remove_prefix(2);
  if (pattern.empty()) return;
  if (!anchored && pattern.compare(0, 3, "**/") == 0 &&
      pattern.find('/', 3) == std::string_view::npos) {
    pattern.remove_prefix(3);  // any directory: what a name says by itself
  }
  if (anchored || pattern.find('/') != std::string_view::npos) {
    path_globs_.push_back({std::string(pattern), directories_only});
  } else if (!directories_only && is_plain(pattern)) {
    names_.emplace(pattern);
  } else if (!directories_only && pattern.size() > 1 && pattern[0] == '*' &&
             is_plain(pattern.substr(1))) {
    suffixes_.emplace_back(pattern.substr(1));
  } else {
    name_globs_.push_back({std::string(pattern), directories_only});
  }
}

bool HidePatterns::Set::matches(std::string_view name, std::string_view path,
                                EntryKind kind) const {
  auto ends_with = [&](const std::string& suffix) {
    return name.size() >= suffix.size() && name.substr(name.size() - suffix.size()) == suffix;
  };
  auto matches_in = [&](const std::vector<Pattern>& globs, std::string_view text) {
    return std::any_of(globs.begin(), globs.end(), [&](const Pattern& glob) {
      return (!glob.directories_only || kind == EntryKind::directory) &&
             glob_match(glob.text, text);
    });
  };
  if (names_.find(std::string(name)) != names_.end()) return true;
  if (std::any_of(suffixes_.begin(), suffixes_.end(), ends_with)) return true;
  return matches_in(name_globs_, name) || matches_in(path_globs_, path);
}

HidePatterns::HidePatterns(const std::vector<std::string>& hide,
                           const std::vector<std::string>& show)
    : hide_(hide), show_(show) {
  // An exception by path may show one of them somewhere: then it is not certain.
  bool by_path = std::any_of(show.begin(), show.end(), [](const std::string& pattern) {
    return pattern.find('/') != std::string::npos;
  });
  for (std::string& name : hide_.plain_names()) {
    bool shown = by_path || show_.matches(name, name, EntryKind::directory);
    if (!shown) certain_.push_back(std::move(name));
  }
  std::sort(certain_.begin(), certain_.end());
}

bool HidePatterns::hides(std::string_view name, std::string_view path, EntryKind kind) const {
  return hide_.matches(name, path, kind) && !show_.matches(name, path, kind);
}

}  // namespace paddock::view
