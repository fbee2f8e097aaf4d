// The credentials of one sandbox: what its programs hold instead of the secrets, and which requests
// get the secrets put on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "egress/credentials/pattern_set.h"
#include "egress/credentials/secret.h"
#include "egress/credentials/sigv4.h"
#include "egress/names/host_pattern.h"
#include "egress/rules/http_match.h"
#include "egress/rules/port_set.h"
#include "egress/rules/seen.h"
#include "model/egress.h"

namespace paddock::egress {

// Where a header's form takes the secret.
inline constexpr std::string_view kSecretSlot = "{secret}";

// A credential of the policy with the secret that its source gave; the path of the agent's socket
// where that keeps it.
struct LoadedCredential {
  model::Credential source;
  Secret secret;
  std::optional<Secret> key_id;  // kind sigv4
};

// What a request needs beside its changed head.
struct Injection {
  std::vector<std::string> credentials;  // names, in the order they were put on
  // The head must be signed last, with the hash of the body or the chunks that follow.
  std::optional<SigV4Claim> sigv4;
  const AwsKey* aws_key = nullptr;

  bool empty() const { return credentials.empty(); }
};

// Who the gate logs in as, by ssh.
struct SshIdentity {
  std::string credential;  // its name
  std::string user;
  Secret private_key;
  std::string agent_socket{};  // in place of a key: who signs
  std::string agent_key{};     // fingerprint of the one that may sign; empty: every one
};

// Immutable after make(); safe from any thread.
class CredentialSet {
 public:
  // `sandbox_key`: random, of this sandbox alone, a new one for each fork. invalid_argument names
  // the credential: no host, a form without "{secret}", a secret that cannot stand where it must.
  static Result<std::shared_ptr<const CredentialSet>> make(
      std::vector<LoadedCredential> credentials, std::string_view sandbox_key);

  // Variables to set inside.
  const std::vector<std::pair<std::string, std::string>>& environment() const {
    return environment_;
  }

  // Whether TLS to this destination must be opened for one of them.
  bool binds(const Target& target) const;

  // Puts secrets on a request that a credential is bound to. permission_denied names the credential
  // whose placeholder stands where it does not belong: the request must not be sent.
  Result<Injection> inject(const Target& target, http::Request& request) const;

  // Of the first that is bound to this destination.
  std::optional<SshIdentity> ssh_identity(const Target& target) const;

  // permission_denied: a placeholder stands in the request.
  Status check_strays(const http::Request& request) const;
  Status check_strays(const http::Fields& trailers) const;

  // In streams from the sandbox: a placeholder of it. In streams to it: a secret that was put on.
  const std::shared_ptr<const PatternSet>& placeholders() const { return placeholders_; }
  const std::shared_ptr<const PatternSet>& secrets() const { return secrets_; }
  // The refusal of a stream in which this text of `placeholders` was found.
  Error stray(size_t text) const;

 private:
  struct Entry {
    LoadedCredential loaded;
    std::vector<HostPattern> hosts;
    PortSet ports;
    HttpMatch match;
    std::string placeholder;
    std::string key_id_placeholder;
    std::shared_ptr<const PatternSet> own;  // its placeholders alone
    std::optional<AwsKey> aws_key;
  };

  static Result<Entry> compile(LoadedCredential loaded, std::string_view sandbox_key);
  static Status put_on(const Entry& entry, http::Request& request, Injection& injection);
  static Status put_on_header(const Entry& entry, http::Request& request, Injection& injection);
  static Status put_on_basic(const Entry& entry, http::Request& request, Injection& injection);
  static Status put_on_query(const Entry& entry, http::Request& request, Injection& injection);
  static Status put_on_sigv4(const Entry& entry, http::Request& request, Injection& injection);
  Status check_text(std::string_view text) const;
  void note(const Entry& entry);

  std::vector<Entry> entries_;
  std::vector<std::pair<std::string, std::string>> environment_;
  std::vector<std::string> names_;  // by text
  std::shared_ptr<const PatternSet> placeholders_;
  std::shared_ptr<const PatternSet> secrets_;
};

}  // namespace paddock::egress
