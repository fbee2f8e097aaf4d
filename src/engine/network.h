// The gate of an engine, and what each sandbox asked of it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "base/result.h"
#include "egress/gate.h"
#include "engine/denials.h"
#include "model/network_record.h"
#include "model/paths.h"

namespace paddock::engine {

// Made with the engine; the gate itself and its threads come with the first sandbox that may reach
// anything. Thread-safe.
class Network {
 public:
  // `ssh_program`: paddock-ssh; empty: git over ssh is refused.
  explicit Network(model::HostPath home, std::string ssh_program = {})
      : home_(std::move(home)), ssh_program_(std::move(ssh_program)) {}

  // Told of every event of a sandbox at the gate, on the gate's threads. Before the first sandbox;
  // nullptr: nobody any more.
  using OnEvent = std::function<void(const model::EgressEvent&)>;
  void set_on_event(OnEvent on_event);

  Result<egress::Gate*> gate();
  // The authority that opened TLS is signed by, with everything that the host trusts beside it: a
  // bundle for programs inside.
  Result<std::string> trust_bundle();

 private:
  friend class NetworkSession;
  struct Log;

  void take(const model::EgressEvent& event);

  model::HostPath home_;
  std::string ssh_program_;
  std::mutex mutex_;
  OnEvent on_event_;
  std::map<model::SandboxId, std::shared_ptr<Log>> logs_;
  std::unique_ptr<egress::Gate> gate_;  // last: it reports until it is gone
};

// What is kept of what a sandbox asks: of one that lives long only what was refused, merged.
enum class NetworkKeep { everything, denials };

// One sandbox at the gate, from before it starts until it is gone. Destroyed, its connections are
// closed and its names forgotten.
class NetworkSession {
 public:
  static Result<std::unique_ptr<NetworkSession>> begin(Network& network, const model::SandboxId& id,
                                                       egress::SandboxRules rules,
                                                       NetworkKeep keep = NetworkKeep::everything);
  ~NetworkSession();
  NetworkSession(const NetworkSession&) = delete;
  NetworkSession& operator=(const NetworkSession&) = delete;

  egress::Gate& gate() { return gate_; }
  const model::SandboxId& id() const { return id_; }
  // What was refused so far, where only that is kept.
  Denials denials() const;
  // What left by another way than the gate.
  void record(model::EgressEvent event);
  // Closes what is open and returns everything that was asked. Once.
  model::NetworkRecord end();

 private:
  NetworkSession(Network& network, egress::Gate& gate, model::SandboxId id, NetworkKeep keep);

  Network& network_;
  egress::Gate& gate_;
  model::SandboxId id_;
  std::shared_ptr<Network::Log> log_;
};

}  // namespace paddock::engine
