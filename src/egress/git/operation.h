// Git's smart protocol over HTTP: which repository a request speaks of and in which direction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "egress/http/message.h"

namespace paddock::egress {

enum class GitStep { list_to_fetch, fetch, list_to_push, push };

struct GitOperation {
  std::string repository;  // "owner/name": the path without slashes around it and without ".git"
  GitStep step = GitStep::fetch;
  std::optional<std::vector<std::string>> refs;  // of a push, once its commands are read
};

// nullopt: not a request of git's smart protocol, or one whose path has more than one reading.
std::optional<GitOperation> find_git_operation(const http::Request& request);

}  // namespace paddock::egress
