// Git's smart protocol over HTTP: which repository a request speaks of, in which direction, and
// which refs it pushes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "egress/http/message.h"
#include "model/egress.h"

namespace paddock::egress {

enum class GitStep { list_to_fetch, fetch, list_to_push, push };

struct GitOperation {
  std::string repository;  // "owner/name": the path without slashes around it and without ".git"
  GitStep step = GitStep::fetch;
  std::optional<std::vector<std::string>> refs;  // of a push, once its commands are read
};

// nullopt: not a request of git's smart protocol, or one whose path has more than one reading.
std::optional<GitOperation> find_git_operation(const http::Request& request);

// The refs in the commands at the start of a push's body. nullopt: they go on, read more.
// data_corrupt: not what git-receive-pack takes, or a signed push, which hides them.
Result<std::optional<std::vector<std::string>>> parse_push_commands(std::string_view body);

enum class GitMeaning { met, not_met, needs_refs };

GitMeaning git_meaning(const model::GitConditions& conditions, const GitOperation& operation,
                       model::EgressAction action);

}  // namespace paddock::egress
