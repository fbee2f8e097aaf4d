// What may leave a sandbox, as policy writes it: rules and credentials in plain text form. egress
// compiles them (egress/rules/policy.h, egress/credentials/) and refuses what it cannot hold to.
//
// An absent list sets no condition; an empty one is met by nothing. That is the difference between
// std::nullopt and {} in every optional list below, and why no list can be emptied into
// "everything".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.h"

namespace paddock::model {

// `audit` lets through and records what a policy without this rule would have refused.
enum class EgressAction { deny, allow, audit };
inline constexpr EnumNames<EgressAction, 3> kEgressActionNames{
    {{EgressAction::deny, "deny"}, {EgressAction::allow, "allow"}, {EgressAction::audit, "audit"}}};

// What the bytes must be. `any`: whatever they are, TLS and HTTP are checked to be meant for the
// host. `tcp`: not looked into, but for the name in a TLS hello. `https` without HTTP conditions is
// TLS that offers HTTP, unopened.
enum class EgressProtocol { any, tcp, tls, http, https, ssh, git };
inline constexpr EnumNames<EgressProtocol, 7> kEgressProtocolNames{
    {{EgressProtocol::any, "any"},
     {EgressProtocol::tcp, "tcp"},
     {EgressProtocol::tls, "tls"},
     {EgressProtocol::http, "http"},
     {EgressProtocol::https, "https"},
     {EgressProtocol::ssh, "ssh"},
     {EgressProtocol::git, "git"}}};

// Whether TLS is opened: `automatic` where a condition or a credential of the host needs it.
enum class Inspection { automatic, always, never };
inline constexpr EnumNames<Inspection, 3> kInspectionNames{{{Inspection::automatic, "automatic"},
                                                            {Inspection::always, "always"},
                                                            {Inspection::never, "never"}}};

// What to do with TLS that names no server, or names it encrypted.
enum class OpaqueTls { refused, accepted };

// Whether the rule may name addresses that are not public: the machine's administrator alone may.
enum class EgressAuthority { ordinary, admin };

using TextList = std::vector<std::string>;
using TextLists = std::map<std::string, TextList>;

// Of each request. Values are globs.
struct HttpConditions {
  std::optional<TextList> methods;
  std::optional<TextList> paths;  // `*` within a segment, `**` across; encoded forms are all judged
  TextLists query;                // parameter → accepted values; it must be there
  TextLists headers;              // header → accepted values; it must be there

  bool empty() const { return !methods && !paths && query.empty() && headers.empty(); }
};

// Of git over any transport. A rule that lets through gives fetching, and pushing to the refs it
// lists; a push that changes refs of `hold` too is kept for review and refused to the program. A
// rule that refuses is met by pushes to the refs it lists, or by everything if it lists none.
struct GitConditions {
  std::optional<TextList> repositories;  // globs on the path, "owner/name", without ".git"
  TextList push;                         // globs on refs, "refs/heads/agent/*"; "agent/*" is short
  TextList hold;                         // the same

  bool empty() const { return !repositories && push.empty() && hold.empty(); }
};

struct EgressRate {
  uint32_t count = 0;
  uint32_t seconds = 1;
};

// Of one rule in one sandbox, all connections together.
struct EgressBudget {
  std::optional<uint64_t> request_bytes;
  std::optional<uint64_t> response_bytes;
  std::optional<EgressRate> rate;   // connections, and requests where HTTP is seen
  std::optional<uint32_t> streams;  // at one time
};

struct EgressRule {
  std::string name;  // shown in denials; empty: its number
  EgressAction action = EgressAction::deny;
  // Destinations: names, or (without names) literal addresses. With names, `addresses` are what
  // they may resolve to beside public ones. `every_public_host` is the preset "open" alone,
  // `every_public_address` (connected to by number) what it adds for served sandboxes.
  std::optional<TextList> hosts;      // "a.example", "*.a.example"
  std::optional<TextList> addresses;  // "192.0.2.1", "198.51.100.0/24"
  bool every_public_host = false;
  bool every_public_address = false;
  bool shared_suffix = false;     // a wildcard may stand above names of strangers
  std::optional<TextList> ports;  // "443", "8000-8010"; absent: those of the protocol, or all
                                  // for a deny rule
  EgressProtocol protocol = EgressProtocol::any;
  HttpConditions http;
  GitConditions git;
  EgressBudget budget;
  Inspection inspect = Inspection::automatic;
  OpaqueTls opaque_tls = OpaqueTls::refused;
  std::string reason;  // shown to the program that is refused
  std::string origin;  // where it is written, for messages: "user policy x.toml:3"
  EgressAuthority authority = EgressAuthority::ordinary;
};

// How a secret is put on the wire.
enum class CredentialKind { header, basic, query, sigv4, git, ssh };
inline constexpr EnumNames<CredentialKind, 6> kCredentialKindNames{
    {{CredentialKind::header, "header"},
     {CredentialKind::basic, "basic"},
     {CredentialKind::query, "query"},
     {CredentialKind::sigv4, "sigv4"},
     {CredentialKind::git, "git"},
     {CredentialKind::ssh, "ssh"}}};

// What becomes of a value that the program sent in the credential's place (kind header).
enum class OwnValue { kept, replaced };

// Whether the value is a secret: kept from bodies and responses, and sent by TLS alone.
enum class Confidence { secret, open };

// Where the secret is kept. Read on the host, once, before the sandbox starts; but for `agent`, the
// caller's ssh agent, which keeps it and signs.
enum class SecretSource { environment, file, command, store, agent };
inline constexpr EnumNames<SecretSource, 5> kSecretSourceNames{
    {{SecretSource::environment, "environment"},
     {SecretSource::file, "file"},
     {SecretSource::command, "command"},
     {SecretSource::store, "store"},
     {SecretSource::agent, "agent"}}};

struct SecretLocation {
  SecretSource source = SecretSource::environment;
  std::string name;  // variable, path, command line, name in Paddock's own store, or fingerprint
                     // of a key of the agent (empty: any)
};

// A secret and the requests that carry it. Inside, only its placeholder is seen.
struct Credential {
  std::string name;  // letters, digits, '-' and '_'
  CredentialKind kind = CredentialKind::header;
  SecretLocation secret;
  SecretLocation key_id;          // sigv4: the access key's id, as secret as the key
  TextList hosts;                 // as in rules; none is an error
  std::optional<TextList> ports;  // absent: 443; of ssh 22
  std::optional<TextList> methods;
  std::optional<TextList> paths;
  std::string header = "authorization";  // kind header
  std::string form = "Bearer {secret}";  // kind header: the value, around the secret
  OwnValue own_value = OwnValue::kept;   // kind header
  Confidence confidence = Confidence::secret;
  std::string user;        // basic, git; ssh: whom to log in as
  std::string parameter;   // query
  std::string env;         // variable inside that holds the placeholder
  std::string key_id_env;  // the same of the id
  std::string origin;      // where it is written
};

// Lists of rules, each ordered: in a list the first rule that matches decides, and what none
// matches is denied. With several lists (a tier that may only narrow another) all must allow.
struct EgressPolicy {
  std::vector<std::vector<EgressRule>> lists;
  std::vector<Credential> credentials{};
};

}  // namespace paddock::model
