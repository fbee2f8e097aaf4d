// Makes the events of one connection.
#pragma once

#include <functional>
#include <string>

#include "egress/gate.h"
#include "egress/rules/policy.h"
#include "model/egress_event.h"

namespace paddock::egress {

using EventSink = std::function<void(const model::EgressEvent&)>;

std::string_view protocol_name(Wire wire);

// An event of this kind about this target, begun now.
struct EventSubject {
  const model::SandboxId& sandbox;
  const Target& target;
  const Asker& asker;
};
model::EgressEvent begin_event(model::EgressEventKind kind, const EventSubject& subject);

// Fills in what a verdict says.
void note_verdict(model::EgressEvent& event, const Verdict& verdict);
// A refusal or failure that is no rule's verdict.
void note_error(model::EgressEvent& event, const Error& error);

}  // namespace paddock::egress
