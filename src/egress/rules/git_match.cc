#include "egress/rules/git_match.h"

#include <algorithm>

#include "base/strings.h"
#include "egress/http/message.h"
#include "egress/rules/glob.h"

namespace paddock::egress {
namespace {

using model::EgressAction;

// "agent/*" is "refs/heads/agent/*".
bool matches_ref(const model::TextList& globs, const std::string& ref) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
    return text_glob(glob.starts_with("refs/") ? glob : "refs/heads/" + glob, ref);
  });
}

// Hosts may take capitals for small letters: a refusal holds for either.
bool matches_repository(const model::GitConditions& conditions, const std::string& repository,
                        EgressAction action) {
  if (!conditions.repositories) return true;
  const bool refuses = action == EgressAction::deny;
  return std::any_of(conditions.repositories->begin(), conditions.repositories->end(),
                     [&](const std::string& glob) {
                       return refuses
                                  ? glob_match(http::lower_case(glob), http::lower_case(repository))
                                  : glob_match(glob, repository);
                     });
}

GitMeaning meaning_of_grant(const model::GitConditions& conditions, const GitOperation& operation) {
  using enum GitMeaning;
  if (conditions.push.empty() && conditions.hold.empty()) return not_met;
  if (operation.step == GitStep::list_to_push) return met;
  if (!operation.refs) return needs_refs;
  const auto all = [&](auto holds) {
    return std::all_of(operation.refs->begin(), operation.refs->end(), holds);
  };
  const auto pushed = [&](const std::string& ref) { return matches_ref(conditions.push, ref); };
  if (all(pushed)) return met;
  const bool reviewed =
      all([&](const std::string& ref) { return pushed(ref) || matches_ref(conditions.hold, ref); });
  return reviewed ? held : not_met;
}

GitMeaning meaning_of_refusal(const model::GitConditions& conditions,
                              const GitOperation& operation) {
  using enum GitMeaning;
  if (conditions.push.empty()) return met;
  if (operation.step == GitStep::list_to_push) return not_met;
  if (!operation.refs) return needs_refs;
  const bool hit =
      std::any_of(operation.refs->begin(), operation.refs->end(),
                  [&](const std::string& ref) { return matches_ref(conditions.push, ref); });
  return hit ? met : not_met;
}

}  // namespace

GitMeaning git_meaning(const model::GitConditions& conditions, const GitOperation& operation,
                       EgressAction action) {
  using enum GitMeaning;
  const bool refuses = action == EgressAction::deny;
  if (!matches_repository(conditions, operation.repository, action)) return not_met;
  if (operation.step == GitStep::fetch || operation.step == GitStep::list_to_fetch) {
    return refuses && !conditions.push.empty() ? not_met : met;
  }
  return refuses ? meaning_of_refusal(conditions, operation)
                 : meaning_of_grant(conditions, operation);
}

}  // namespace paddock::egress
