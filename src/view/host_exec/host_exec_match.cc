#include "view/host_exec/host_exec_match.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "view/host_exec/host_exec_fold.h"
#include "view/host_exec/host_exec_rules.h"

namespace paddock::view {
namespace {

struct Pattern {
  std::vector<std::string> names;  // folded globs
  std::string literal_front;       // of the last name, before its first wildcard
  std::string_view reason;
};

// Patterns in the order of the table. Most end in a plain name, which a look-up finds.
struct Table {
  std::vector<Pattern> patterns;
  std::unordered_map<std::string, std::vector<size_t>> by_plain_end;
  std::vector<size_t> globs;
  size_t longest = 0;
};

void add_pattern(Table& table, std::string_view text, std::string_view reason) {
  Pattern pattern{fold_path(text), {}, reason};
  const std::string& last = pattern.names.back();
  pattern.literal_front = last.substr(0, last.find_first_of("*?[\\"));
  size_t index = table.patterns.size();
  if (pattern.literal_front.size() == last.size()) {
    table.by_plain_end[last].push_back(index);
  } else {
    table.globs.push_back(index);
  }
  table.longest = std::max(table.longest, pattern.names.size());
  table.patterns.push_back(std::move(pattern));
}

Table make_table() {
  Table table;
  for (const HostExecRule& rule : host_exec_rules()) {
    for (const std::string& text : split(rule.patterns, ' ')) {
      if (!text.empty()) add_pattern(table, text, rule.reason);
    }
  }
  return table;
}

const Table& table() {
  static const Table made = make_table();
  return made;
}

bool all_match(std::span<const std::string> globs, FoldedNames names) {
  for (size_t i = 0; i < globs.size(); ++i) {
    if (!glob_match(globs[i], names[i])) return false;
  }
  return true;
}

bool matches_end(const Pattern& pattern, FoldedNames names) {
  if (pattern.names.size() > names.size()) return false;
  if (names.back().compare(0, pattern.literal_front.size(), pattern.literal_front) != 0) {
    return false;
  }
  return all_match(pattern.names, names.last(pattern.names.size()));
}

}  // namespace

size_t longest_pattern() {
  return table().longest;
}

std::string_view reason_ending_at(FoldedNames names) {
  if (names.empty()) return {};
  size_t best = table().patterns.size();
  auto consider = [&](const std::vector<size_t>& candidates) {
    for (size_t index : candidates) {
      if (index < best && matches_end(table().patterns[index], names)) best = index;
    }
  };
  auto plain = table().by_plain_end.find(names.back());
  if (plain != table().by_plain_end.end()) consider(plain->second);
  consider(table().globs);
  return best < table().patterns.size() ? table().patterns[best].reason : std::string_view();
}

std::string_view reason_leading_through(FoldedNames names) {
  for (const Pattern& pattern : table().patterns) {
    for (size_t length = 1; length < pattern.names.size() && length <= names.size(); ++length) {
      if (all_match(std::span(pattern.names).first(length), names.last(length))) {
        return pattern.reason;
      }
    }
  }
  return {};
}

}  // namespace paddock::view
