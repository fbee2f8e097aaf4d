#include "egress/rules/git_match.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "egress/rules/glob.h"
#include "egress/rules/http_match.h"
#include "egress/rules/path_forms.h"

namespace paddock::egress {
namespace {

using Refs = std::vector<std::string>;

constexpr size_t kMaxCommands = 1024;
constexpr size_t kMaxCommandBytes = 256 * 1024;

// The repository in a path that ends in `suffix`; empty: it does not.
std::string repository_of(std::string_view path, std::string_view suffix) {
  if (!path.ends_with(suffix)) return {};
  path.remove_suffix(suffix.size());
  if (path.ends_with(".git")) path.remove_suffix(4);
  if (!path.starts_with('/')) return {};
  return std::string(path.substr(1));
}

std::optional<GitStep> step_of_service(std::string_view query) {
  const auto parameters = query_parameters(query);
  if (parameters.size() != 1 || parameters[0].first != "service") return std::nullopt;
  if (parameters[0].second == "git-upload-pack") return GitStep::list_to_fetch;
  if (parameters[0].second == "git-receive-pack") return GitStep::list_to_push;
  return std::nullopt;
}

Error corrupt(std::string why) {
  return Error(Code::data_corrupt, "reading what a push changes: " + std::move(why));
}

// "OLD NEW REF", each id 40 or 64 hex digits.
Result<std::string> ref_of_command(std::string_view line) {
  line = line.substr(0, line.find('\0'));
  if (line.ends_with('\n')) line.remove_suffix(1);
  const std::vector<std::string> words = split(line, ' ');
  if (words.size() != 3 || words[0].size() != words[1].size() ||
      (words[0].size() != 40 && words[0].size() != 64) || words[2].empty()) {
    return corrupt("'" + printable(line.substr(0, 80)) + "' is no command");
  }
  return words[2];
}

// Length of the packet at the start, its four digits included; nullopt: the digits are not there
// yet.
Result<std::optional<size_t>> packet_length(std::string_view rest) {
  if (rest.size() < 4) return std::optional<size_t>();
  size_t length = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + 4, length, 16);
  if (error != std::errc() || end != rest.data() + 4) return corrupt("a packet has no length");
  return std::optional(length);
}

bool matches_ref(const model::TextList& globs, const std::string& ref) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
    return text_glob(glob.starts_with("refs/") ? glob : "refs/heads/" + glob, ref);
  });
}

bool matches_repository(const model::GitConditions& conditions, const std::string& repository) {
  if (!conditions.repositories) return true;
  return std::any_of(conditions.repositories->begin(), conditions.repositories->end(),
                     [&](const std::string& glob) { return glob_match(glob, repository); });
}

}  // namespace

std::optional<GitOperation> find_git_operation(const http::Request& request) {
  auto forms = path_forms(request.path());
  if (!forms.ok() || forms->size() != 1) return std::nullopt;
  const std::string& path = forms->front();
  auto operation = [](std::string repository, GitStep step) -> std::optional<GitOperation> {
    if (repository.empty()) return std::nullopt;
    return GitOperation{.repository = std::move(repository), .step = step, .refs = {}};
  };
  if (request.method == "GET") {
    const auto step = step_of_service(request.query());
    return step ? operation(repository_of(path, "/info/refs"), *step) : std::nullopt;
  }
  if (request.method != "POST" || !request.query().empty()) return std::nullopt;
  if (auto fetch = operation(repository_of(path, "/git-upload-pack"), GitStep::fetch)) return fetch;
  return operation(repository_of(path, "/git-receive-pack"), GitStep::push);
}

Result<std::optional<Refs>> parse_push_commands(std::string_view body) {
  Refs refs;
  for (size_t at = 0;;) {
    if (at > kMaxCommandBytes || refs.size() > kMaxCommands) return corrupt("too many commands");
    const std::optional<size_t> length = PD_TRY(packet_length(body.substr(at)));
    if (!length) return std::optional<Refs>();
    if (*length == 0) return std::optional(std::move(refs));
    if (*length < 5) return corrupt("a packet is too short");
    if (body.size() - at < *length) return std::optional<Refs>();
    const std::string_view line = body.substr(at + 4, *length - 4);
    if (line.starts_with("push-cert")) return corrupt("a signed push");
    if (!line.starts_with("shallow ")) refs.push_back(PD_TRY(ref_of_command(line)));
    at += *length;
  }
}

GitMeaning git_meaning(const model::GitConditions& conditions, const GitOperation& operation,
                       model::EgressAction action) {
  using enum GitMeaning;
  const bool refuses = action == model::EgressAction::deny;
  if (!matches_repository(conditions, operation.repository)) return not_met;
  if (operation.step == GitStep::fetch || operation.step == GitStep::list_to_fetch) {
    return refuses && !conditions.push.empty() ? not_met : met;
  }
  if (refuses && conditions.push.empty()) return met;
  if (conditions.push.empty()) return not_met;
  if (operation.step == GitStep::list_to_push) return refuses ? not_met : met;
  if (!operation.refs) return needs_refs;
  auto listed = [&](const std::string& ref) { return matches_ref(conditions.push, ref); };
  const bool hit = refuses ? std::any_of(operation.refs->begin(), operation.refs->end(), listed)
                           : std::all_of(operation.refs->begin(), operation.refs->end(), listed);
  return hit ? met : not_met;
}

}  // namespace paddock::egress
