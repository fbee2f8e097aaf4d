#include "egress/credentials/load.h"

#include <fmt/core.h>

#include "base/strings.h"
#include "egress/credentials/secret_store.h"
#include "egress/ssh/agent_door.h"
#include "sys/command.h"
#include "sys/files.h"

namespace paddock::egress {
namespace {

using model::SecretLocation;
using model::SecretSource;

constexpr size_t kMaxSecret = 64 * 1024;

Secret without_line_break(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return Secret(std::move(text));
}

Result<Secret> from_variable(const SecretLocation& location, const SecretSources& sources) {
  auto value = sources.variable ? sources.variable(location.name) : std::nullopt;
  if (value && !value->empty()) return Secret(std::move(*value));
  return Error(Code::failed_precondition,
               fmt::format("the variable {} is {}", printable(location.name),
                           value ? "empty" : "not set"))
      .set_remedy("set it for paddock, or take the credential out of the policy");
}

// The command's words are split at blanks: no shell takes part.
Result<Secret> from_command(const SecretLocation& location, const SecretSources& sources) {
  sys::Command command{.argv = {},
                       .environment = sources.command_environment,
                       .directory = {},
                       .input = {},
                       .output_limit = kMaxSecret,
                       .input_file = "/dev/null"};
  for (std::string& word : split(location.name, ' ')) {
    if (!word.empty()) command.argv.push_back(std::move(word));
  }
  if (command.argv.empty()) return Error(Code::invalid_argument, "no command is named");
  sys::CommandResult result = PD_TRY(sys::run_command(command));
  if (result.exit_code != 0) {
    wipe(result.out);
    return Error(Code::failed_precondition,
                 fmt::format("'{}' ended with {}: {}", printable(location.name), result.exit_code,
                             printable(trim(std::string_view(result.err).substr(0, 500)))));
  }
  return without_line_break(std::move(result.out));
}

// Where the caller's agent listens. A key that it does not hold is known before anything starts.
Result<Secret> from_agent(const SecretLocation& location, const SecretSources& sources) {
  if (!location.name.empty() && !ssh::is_fingerprint(location.name)) {
    return Error(Code::invalid_argument,
                 "'" + printable(location.name) + "' is no fingerprint of a key")
        .set_remedy("write agent:SHA256:… as `ssh-add -l` shows it, or agent: for any key");
  }
  const auto socket = sources.variable ? sources.variable("SSH_AUTH_SOCK") : std::nullopt;
  if (!socket || socket->empty()) {
    return Error(Code::failed_precondition, "no ssh agent: SSH_AUTH_SOCK is not set")
        .set_remedy("start one (ssh-agent), or take the key from a file");
  }
  for (const ssh::AgentKey& key : PD_TRY(ssh::list_agent_keys(*socket))) {
    if (location.name.empty() || ssh::fingerprint(key.blob) == location.name) {
      return Secret(*socket);
    }
  }
  return Error(Code::failed_precondition,
               "the ssh agent does not hold " + (location.name.empty() ? "a key" : location.name))
      .set_remedy("ssh-add the key");
}

Result<Secret> read_secret(const SecretLocation& location, const SecretSources& sources) {
  switch (location.source) {
    case SecretSource::environment:
      return from_variable(location, sources);
    case SecretSource::file:
      return without_line_break(PD_TRY(sys::read_file(location.name, kMaxSecret)));
    case SecretSource::command:
      return from_command(location, sources);
    case SecretSource::agent:
      return from_agent(location, sources);
    case SecretSource::store:
      return SecretStore(sources.store_directory).get(location.name);
  }
  return Error(Code::internal, "an unknown source");
}

// An agent signs logins. It gives nothing that could be sent.
Status check_source(const model::Credential& credential) {
  const bool asks_agent = credential.secret.source == SecretSource::agent ||
                          credential.key_id.source == SecretSource::agent;
  if (!asks_agent || credential.kind == model::CredentialKind::ssh) return {};
  return Error(Code::invalid_argument, "only a credential of kind ssh is taken from an ssh agent")
      .set_remedy("kind = \"ssh\", or another source");
}

}  // namespace

Result<std::vector<LoadedCredential>> load_credentials(
    const std::vector<model::Credential>& credentials, const SecretSources& sources) {
  std::vector<LoadedCredential> out;
  for (const model::Credential& credential : credentials) {
    const std::string doing = fmt::format("reading credential {}", printable(credential.name));
    PD_TRY_CTX(doing, check_source(credential));
    Secret secret = PD_TRY_CTX(doing, read_secret(credential.secret, sources));
    LoadedCredential loaded{.source = credential, .secret = std::move(secret), .key_id = {}};
    if (credential.kind == model::CredentialKind::sigv4) {
      loaded.key_id = PD_TRY_CTX(doing + " (its key id)", read_secret(credential.key_id, sources));
    }
    out.push_back(std::move(loaded));
  }
  return out;
}

}  // namespace paddock::egress
