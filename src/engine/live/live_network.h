// What leaves one live sandbox: what the daemon's policy lets out, narrowed by what its client
// asked for, and the headers that the client wants put on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/agent_link.h"
#include "engine/denials.h"
#include "engine/egress_bridge.h"
#include "engine/egress_plan.h"
#include "engine/host_words.h"
#include "engine/network.h"

namespace paddock::engine {

// A header for each request over TLS to a host.
struct HeaderRule {
  std::string host;   // as in egress rules
  std::string name;   // of the header
  std::string value;  // as the client wrote it
  std::string form = "{secret}";
  std::optional<egress::Secret> secret;
  model::Confidence confidence = model::Confidence::open;
};

// Asked for by a client. What policy does not let out stays inside, whatever stands here.
struct NetworkRequest {
  std::optional<std::vector<model::EgressRule>> narrowing;  // must allow, too; nullopt: all that
                                                            // policy lets out
  std::vector<HeaderRule> headers;
  HostWords words;         // said while it ran: before `narrowing`, and within policy as that is
  std::string must_reach;  // of an update: a host that was allowed; where it stays refused, nothing
                           // changes
  std::optional<bool> internet;  // said by itself
  // Of what comes in to its ports.
  enum class Traffic { open, with_token } traffic = Traffic::open;
  std::string host_mask;  // what programs see as Host, "${PORT}" expands; empty: as it came
  std::string text;       // the request as JSON, for answers; empty: none was made
};

// The daemon's policy with what the client asked for. invalid_argument: a rule or header that
// cannot be.
Result<EgressSource> narrow(const EgressSource& granted, const NetworkRequest& request);

// At the gate from before the sandbox starts until it is gone. Used on one thread at a time.
class LiveNetwork {
 public:
  struct Parts {
    Network& network;
    std::shared_ptr<const EgressSource> granted;  // by policy
    std::string key;                              // of placeholders, of this sandbox alone
  };
  static Result<std::unique_ptr<LiveNetwork>> begin(Parts parts, const model::SandboxId& id,
                                                    const EgressPlan& plan);

  // From now on. Connections that are no longer allowed are closed. permission_denied: what must be
  // reached would not be, and nothing has changed.
  Status update(const NetworkRequest& request);
  egress::Gate& gate() { return session_->gate(); }
  Result<std::unique_ptr<EgressBridge>> make_bridge(AgentLink& link);
  Denials denials() const { return session_->denials(); }

 private:
  LiveNetwork(Parts parts, std::unique_ptr<NetworkSession> session)
      : parts_(std::move(parts)), session_(std::move(session)) {}

  Parts parts_;
  std::unique_ptr<NetworkSession> session_;
};

}  // namespace paddock::engine
