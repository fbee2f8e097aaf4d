#include "engine/agent_setup.h"

#include <string>
#include <utility>

#include "base/strings.h"
#include "engine/denials.h"
#include "wire/build_id.h"

namespace paddock::engine {
namespace {

// A loaded machine is slow, an agent that says nothing this long is dead.
constexpr int kHandshakeMs = 30'000;

Status check_hello(const wire::ToHost& message) {
  if (!message.has_hello()) return Error(Code::data_corrupt, "the agent did not introduce itself");
  if (message.hello().protocol() == wire::kProtocolVersion &&
      message.hello().build_id() == wire::build_id()) {
    return {};
  }
  return Error(Code::failed_precondition, "paddock-agent is of another build than paddock")
      .set_remedy("install both from one build");
}

}  // namespace

Status set_up_agent(const isolation::Sandbox& sandbox, AgentLink& link, AgentSetup setup) {
  const bool lets_out = setup.egress.has_value();
  wire::ToAgent message;
  wire::Setup& body = *message.mutable_setup();
  body = sandbox.setup();
  body.clear_egress();
  if (lets_out) *body.mutable_egress() = *std::move(setup.egress);
  const uint32_t sockets = setup.sockets;
  body.set_sockets(sockets);
  body.set_build_id(std::string(wire::build_id()));
  body.set_denial_limit(kMaxDenials);
  if (setup.deadline_ms != 0) body.set_deadline_ms(setup.deadline_ms);
  const wire::ToHost hello = PD_TRY(link.next_message(kHandshakeMs));
  PD_TRY(check_hello(hello));
  const wire::ToHost answer = PD_TRY(link.call(std::move(message), kHandshakeMs));
  if (!answer.has_evidence()) return Error(Code::data_corrupt, "the agent reported no evidence");
  auto mismatches = sandbox.check(answer.evidence());
  if (lets_out != answer.evidence().egress()) {
    mismatches.push_back("the way out is not in place: " + answer.evidence().network_error());
  }
  if (sockets != answer.evidence().sockets()) {
    mismatches.push_back("not every socket of the host is listened for");
  }
  if (mismatches.empty()) return {};
  for (std::string& mismatch : mismatches) mismatch = printable(mismatch);
  return Error(Code::failed_precondition,
               "inside, the isolation is not what was decided: " + join(mismatches, "; "))
      .set_remedy("the sandbox was destroyed; `paddock doctor` shows what this host gives");
}

}  // namespace paddock::engine
