// The only way out of a sandbox: decides by name, dials what it resolved itself, puts credentials
// on, carries the bytes and keeps the record.
//
// It meets sandboxes as an id and rules, and their connections as sockets that somebody relays: it
// knows no container, no agent and no network card. One gate serves every sandbox of a process.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "base/result.h"
#include "egress/credentials/credential_set.h"
#include "egress/git/push_report.h"
#include "egress/names/synthetic.h"
#include "egress/pushes/held_push.h"
#include "egress/rules/policy.h"
#include "model/egress_event.h"
#include "model/ids.h"
#include "net/resolver.h"
#include "sys/fd.h"

namespace paddock::egress {

struct SandboxRules {
  std::shared_ptr<const Policy> policy;
  std::shared_ptr<const CredentialSet> credentials;  // nullptr: none
  std::vector<std::string> known_hosts{};            // files that ssh's hosts are known by
};

// Who asks, as seen inside; for the record only.
struct Asker {
  int64_t pid = 0;
  std::string process;
};

struct NameRequest {
  model::SandboxId sandbox;
  std::string name;  // as asked for; hostile
  Asker asker;
};

// Of a connection that ended. `aborted`: the program inside must see a reset, which the relay has
// to make where the socket is no TCP one.
enum class Ending { closed, aborted };

// A connection that a sandbox asks for.
struct ConnectionRequest {
  model::SandboxId sandbox;
  // An address that a program connected to, synthetic or not; or a name that it gave to a proxy.
  std::variant<model::IpAddress, std::string> destination;
  uint16_t port = 0;
  Asker asker;
  sys::SocketFd stream;  // bytes of the program: one end of a socket pair, or its own TCP socket
  // Called once, on a thread of the gate, right before it closes the socket. May be empty.
  std::function<void(Ending, const std::string& reason)> on_end;
};

// A held push that was sent on, or was refused by its host (report.ok()).
struct ReleasedPush {
  HeldPush push;
  git::PushReport report;
  bool already_there = false;  // nothing had to be sent
};

// Thread-safe. Destroying it closes every connection and waits for its threads.
class Gate {
 public:
  virtual ~Gate() = default;

  // From now on the sandbox has these rules. Connections that they no longer allow are closed;
  // names keep their addresses.
  virtual void set_rules(const model::SandboxId& sandbox, SandboxRules rules) = 0;
  // The sandbox is gone: closes its connections and forgets its names. Their events have been
  // reported when it returns. Not to be called in on_event or on_end.
  virtual void forget(const model::SandboxId& sandbox) = 0;

  // The addresses that stand for a name. permission_denied: no rule allows it, or it is no name;
  // nothing leaves the host either way.
  virtual Result<SyntheticPair> resolve(const NameRequest& request) = 0;

  // Decides on the destination at once and takes the stream if it may be allowed. permission_denied
  // says which rule refuses. What fails later is told to the program in the protocol that it
  // speaks, or by a reset, and to on_end.
  virtual Status open(ConnectionRequest request) = 0;

  // Sends a held push (of the state directory, by a prefix of its id) to its host: dialled as every
  // connection is, with the credentials of these rules, which must still hold or allow it. Waits
  // for the answer. conflict: the host's refs are not what they were. failed_precondition: it was
  // released already, or is being released. Not to be called in on_event or on_end.
  virtual Result<ReleasedPush> release(const std::string& id, const SandboxRules& rules) = 0;

  // The key that the gate shows to programs that speak ssh, as a line of known_hosts without its
  // hosts: "ssh-ed25519 AAAA…". Made when first asked for.
  virtual Result<std::string> ssh_host_key() = 0;

  // The authority that opened TLS is signed by, as PEM, for the sandbox to trust. Made when first
  // asked for.
  virtual Result<std::string> authority_pem() = 0;
};

struct GateOptions {
  std::string state_dir;  // of the installation: keeps the authority, "egress-ca/" below it
  // Called on any thread, one at a time for each sandbox.
  std::function<void(const model::EgressEvent&)> on_event;
  std::unique_ptr<net::Resolver> resolver;  // nullptr: the host's own
  std::string trusted_pem;                  // authorities beside those that the host trusts
  std::string ssh_program;                  // paddock-ssh; empty: git over ssh is refused
  unsigned threads = 1;
};

std::unique_ptr<Gate> make_gate(GateOptions options);

}  // namespace paddock::egress
