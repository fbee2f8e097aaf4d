// The command that git asks an ssh server to run.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "egress/git/operation.h"

namespace paddock::egress::git {

struct ExecCommand {
  GitStep step = GitStep::fetch;  // fetch, or list_to_push
  std::string path;               // of the repository, as the program wrote it
  std::string repository;         // as rules name it

  std::string_view program() const {
    return step == GitStep::fetch ? "git-upload-pack" : "git-receive-pack";
  }
  // For the host: made anew, so that nothing but the program and one quoted path reaches its shell.
  std::string command() const;
};

// One of the two programs (or `git upload-pack`), a blank, and one path in single quotes, of
// letters, digits and "-._~/+@". permission_denied: anything else, an archive, a shell, options,
// and paths that more than one repository could be meant by.
Result<ExecCommand> parse_exec_command(std::string_view command);

}  // namespace paddock::egress::git
