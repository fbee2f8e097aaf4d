#include "egress/git/operation.h"

#include "egress/rules/http_match.h"
#include "egress/rules/path_forms.h"

namespace paddock::egress {
namespace {

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

}  // namespace paddock::egress
