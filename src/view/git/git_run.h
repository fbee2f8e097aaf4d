// Runs the host's git so that nothing of a repository, user or environment steers it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/paths.h"
#include "sys/command.h"

namespace paddock::view {

struct GitCall {
  std::vector<std::string> args;  // after "git"
  // The repository; empty: none, and none is looked for. A path given here is not checked for its
  // owner, so that it works on a repository of another user.
  model::HostPath git_dir;
  model::HostPath directory;  // working directory; empty: /
  std::string input;
  model::HostPath input_file;  // read instead of `input`
  size_t output_limit = 256u << 20;
  std::vector<std::string> environment;        // added to the fixed one
  std::optional<sys::CommandLimits> limits{};  // where what it reads is a sandbox's own making
};

// The program is taken from the system's directories, never from the caller's PATH. Environment and
// configuration are fixed: no system, user or command configuration, no hooks, no fsmonitor, no
// external diff, pager, editor or prompt, no replace objects, no fetch of missing objects.
// unsupported when the host has no git. An exit status is a value.
Result<sys::CommandResult> run_git(GitCall call);

// The same where only success will do: data_corrupt with git's words otherwise.
Result<std::string> git_output(GitCall call);

}  // namespace paddock::view
