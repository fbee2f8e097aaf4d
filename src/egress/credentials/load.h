// Reading secrets from where policy says they are kept, on the host, before a sandbox starts.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "egress/credentials/credential_set.h"
#include "model/egress.h"

namespace paddock::egress {

struct SecretSources {
  // Of the caller of `paddock`.
  std::function<std::optional<std::string>(const std::string& name)> variable;
  std::vector<std::string> command_environment;  // "K=V", of commands that print a secret
  std::string store_directory;                   // of SecretStore
};

// Every credential with its secret, or the error of the first that cannot be had: a sandbox does
// not start without. One line break at the end of a file's or a command's text is not part of it.
Result<std::vector<LoadedCredential>> load_credentials(
    const std::vector<model::Credential>& credentials, const SecretSources& sources);

}  // namespace paddock::egress
