#include "view/testing/git.h"

#include <fmt/core.h>

#include <cstdlib>

#include "base/strings.h"
#include "view/git/git_run.h"

namespace paddock::view::testing {
namespace {

Result<sys::CommandResult> run(const std::string& dir, const std::vector<std::string>& args,
                               const std::string& input) {
  GitCall call;
  call.args = args;
  call.git_dir = model::HostPath(dir + "/.git");
  call.directory = model::HostPath(dir);
  call.input = input;
  call.environment = {"GIT_WORK_TREE=" + dir, "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@test.test",
                      "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@test.test"};
  return run_git(std::move(call));
}

}  // namespace

bool have_git() {
  GitCall call;
  call.args = {"version"};
  return run_git(std::move(call)).ok();
}

std::string git(const std::string& dir, const std::vector<std::string>& args,
                const std::string& input) {
  Result<sys::CommandResult> result = run(dir, args, input);
  if (!result.ok() || result->exit_code != 0) {
    fmt::print(stderr, "git {} in {}: {}\n", join(args, " "), dir,
               result.ok() ? result->err : result.error().describe());
    std::abort();
  }
  return std::string(trim(result->out));
}

bool git_succeeds(const std::string& dir, const std::vector<std::string>& args,
                  const std::string& input) {
  Result<sys::CommandResult> result = run(dir, args, input);
  if (result.ok() && result->exit_code != 0) {
    fmt::print(stderr, "git {}: {}\n", join(args, " "), result->err);
  }
  return result.ok() && result->exit_code == 0;
}

void make_repository(const std::string& dir) {
  git(dir, {"init", "--quiet", "--template=", "--initial-branch=main"});
  commit_all(dir, "first");
}

std::string commit_all(const std::string& dir, const std::string& message) {
  git(dir, {"add", "-A", "-f", "."});
  git(dir, {"commit", "--quiet", "--allow-empty", "-m", message});
  return git(dir, {"rev-parse", "HEAD"});
}

}  // namespace paddock::view::testing
