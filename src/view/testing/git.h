// Repositories for tests, made by the host's git.
#pragma once

#include <string>
#include <vector>

namespace paddock::view::testing {

bool have_git();

// `git ARGS` in `dir`, with its own repository there; aborts the test run when it fails.
std::string git(const std::string& dir, const std::vector<std::string>& args,
                const std::string& input = "");
// Whether it succeeded.
bool git_succeeds(const std::string& dir, const std::vector<std::string>& args,
                  const std::string& input = "");

// A repository in `dir`, which may hold files: they are its first commit.
void make_repository(const std::string& dir);
// Commits everything; returns the commit id.
std::string commit_all(const std::string& dir, const std::string& message);

}  // namespace paddock::view::testing
