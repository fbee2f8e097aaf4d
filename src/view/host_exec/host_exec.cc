#include "view/host_exec/host_exec.h"

#include <algorithm>

#include "base/strings.h"
#include "view/changes.h"
#include "view/changes/change_stack.h"
#include "view/host_exec/host_exec_fold.h"
#include "view/host_exec/host_exec_link.h"
#include "view/host_exec/host_exec_match.h"
#include "view/host_exec/host_exec_rules.h"

namespace paddock::view {
namespace {

using Names = std::vector<std::string>;

std::string fold_glob(const std::string& glob) {
  bool anchored = glob.find('/') != std::string::npos;
  // The slash that anchors "/x" and "x/" is kept in front of the path that it is compared with.
  return (anchored ? "/" : "") + join(fold_path(glob), "/");
}

bool glob_ends_at(const std::string& folded_glob, const Names& names) {
  if (folded_glob.empty() || names.empty()) return false;
  if (folded_glob[0] != '/') return glob_match(folded_glob, names.back());
  return glob_match(folded_glob.substr(1), join(names, "/"));
}

std::string reason_at(const Names& names, const std::vector<std::string>& folded_globs) {
  std::string_view reason = reason_ending_at(names);
  if (!reason.empty()) return std::string(reason);
  for (const std::string& glob : folded_globs) {
    if (glob_ends_at(glob, names)) return "policy holds it back";
  }
  return "";
}

std::vector<std::string> fold_globs(const std::vector<std::string>& globs) {
  std::vector<std::string> folded;
  for (const std::string& glob : globs) folded.push_back(fold_glob(glob));
  return folded;
}

// The last components of a path, as many as any pattern looks at.
Names fold_end(const std::string& path) {
  size_t begin = path.size();
  for (size_t count = longest_pattern(); count > 0 && begin != std::string::npos; --count) {
    begin = begin == 0 ? std::string::npos : path.find_last_of('/', begin - 1);
  }
  return fold_path(begin == std::string::npos ? path : path.substr(begin));
}

}  // namespace

std::string host_exec_reason(const std::string& path,
                             const std::vector<std::string>& further_globs) {
  std::vector<std::string> globs = fold_globs(further_globs);
  for (Names names = fold_path(path); !names.empty(); names.pop_back()) {
    std::string reason = reason_at(names, globs);
    if (!reason.empty()) return reason;
  }
  return "";
}

std::string git_exec_reason(const std::string& git_path) {
  std::string reason = host_exec_reason(git_path, {});
  return reason == kGitData ? "" : reason;
}

HoldBack::HoldBack(HoldRules rules)
    : rules_(std::move(rules)), folded_globs_(fold_globs(rules_.further_globs)), known_{{"", ""}} {}

std::string HoldBack::reason(const std::string& path, const model::FileState& after) {
  std::string own = own_reason(path);
  if (own.empty()) own = reason_of_directory(parent_of(path));
  if (!own.empty() || after.type != model::FileType::symlink) return own;
  std::string_view leading = reason_leading_through(fold_end(path));
  if (!leading.empty()) return std::string(leading);
  if (leads_out(path, after.target, rules_.workspace)) {
    return "the link leads out of the workspace: what writes through it writes there";
  }
  return "";
}

std::string HoldBack::own_reason(const std::string& path) const {
  return reason_at(folded_globs_.empty() ? fold_end(path) : fold_path(path), folded_globs_);
}

// Outermost first, so that no call goes deep.
const std::string& HoldBack::reason_of_directory(const std::string& path) {
  std::vector<std::string> unknown;
  std::string above = path;
  for (; known_.count(above) == 0; above = parent_of(above)) unknown.push_back(above);
  const std::string* reason = &known_.at(above);
  for (auto next = unknown.rbegin(); next != unknown.rend(); ++next) {
    std::string own = own_reason(*next);
    reason = &known_.emplace(*next, own.empty() ? *reason : std::move(own)).first->second;
  }
  return *reason;
}

bool is_git_path(const std::string& path) {
  std::vector<std::string> folded = fold_path(path);
  return std::find(folded.begin(), folded.end(), ".git") != folded.end();
}

}  // namespace paddock::view
