#include "view/host_exec.h"

#include <algorithm>
#include <span>

#include "base/strings.h"
#include "view/changes.h"
#include "view/host_exec_fold.h"
#include "view/host_exec_link.h"
#include "view/host_exec_rules.h"

namespace paddock::view {
namespace {

using Components = std::vector<std::string>;

struct ParsedRule {
  std::string_view reason;
  std::vector<Components> patterns;
};

std::vector<ParsedRule> parse_rules() {
  std::vector<ParsedRule> parsed;
  for (const HostExecRule& rule : host_exec_rules()) {
    ParsedRule& row = parsed.emplace_back(ParsedRule{rule.reason, {}});
    for (const std::string& pattern : split(rule.patterns, ' ')) {
      if (!pattern.empty()) row.patterns.push_back(fold_path(pattern));
    }
  }
  return parsed;
}

const std::vector<ParsedRule>& parsed_rules() {
  static const std::vector<ParsedRule> rules = parse_rules();
  return rules;
}

bool globs_match(std::span<const std::string> globs, std::span<const std::string> names) {
  for (size_t i = 0; i < globs.size(); ++i) {
    if (!glob_match(globs[i], names[i])) return false;
  }
  return true;
}

// The whole pattern, at consecutive components anywhere.
bool matches(const Components& pattern, const Components& path) {
  for (size_t at = 0; at + pattern.size() <= path.size(); ++at) {
    if (globs_match(pattern, std::span(path).subspan(at, pattern.size()))) return true;
  }
  return false;
}

// The end of the path is the front of the pattern.
bool leads_to(const Components& pattern, const Components& path) {
  for (size_t length = 1; length < pattern.size() && length <= path.size(); ++length) {
    if (globs_match(std::span(pattern).first(length), std::span(path).last(length))) return true;
  }
  return false;
}

bool matches_glob(const std::string& glob, const Components& path) {
  Components folded = fold_path(glob);
  if (glob.find('/') == std::string::npos) {
    return std::any_of(path.begin(), path.end(), [&](const std::string& name) {
      return !folded.empty() && glob_match(folded[0], name);
    });
  }
  std::string above;
  for (const std::string& name : path) {
    above += (above.empty() ? "" : "/") + name;
    if (glob_match(join(folded, "/"), above)) return true;
  }
  return false;
}

template <typename Match>
std::string reason_where(Match match) {
  for (const ParsedRule& rule : parsed_rules()) {
    if (std::any_of(rule.patterns.begin(), rule.patterns.end(), match)) {
      return std::string(rule.reason);
    }
  }
  return "";
}

}  // namespace

std::string host_exec_reason(const std::string& path,
                             const std::vector<std::string>& further_globs) {
  Components folded = fold_path(path);
  std::string reason = reason_where([&](const Components& p) { return matches(p, folded); });
  if (!reason.empty()) return reason;
  for (const std::string& glob : further_globs) {
    if (matches_glob(glob, folded)) return "policy holds it back (" + glob + ")";
  }
  return "";
}

std::string hold_reason(const std::string& path, const model::FileState& after,
                        const HoldRules& rules) {
  std::string reason = host_exec_reason(path, rules.further_globs);
  if (!reason.empty() || after.type != model::FileType::symlink) return reason;
  Components folded = fold_path(path);
  reason = reason_where([&](const Components& p) { return leads_to(p, folded); });
  if (!reason.empty()) return reason;
  if (leads_out(path, after.target, rules.workspace)) {
    return "the link leads out of the workspace: what writes through it writes there";
  }
  return "";
}

bool is_git_path(const std::string& path) {
  Components folded = fold_path(path);
  return std::find(folded.begin(), folded.end(), ".git") != folded.end();
}

}  // namespace paddock::view
