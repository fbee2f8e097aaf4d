#include "egress/gate/reporter.h"

#include "base/strings.h"
#include "sys/clock.h"

namespace paddock::egress {

using model::EgressEvent;
using model::EgressVerdict;

std::string_view protocol_name(Wire wire) {
  switch (wire) {
    case Wire::nothing_yet:
    case Wire::silent:
      return "";
    case Wire::tls:
      return "tls";
    case Wire::http:
      return "http";
    case Wire::ssh:
      return "ssh";
    case Wire::other:
      return "tcp";
  }
  return "";
}

EgressEvent begin_event(model::EgressEventKind kind, const EventSubject& subject) {
  EgressEvent event;
  event.sandbox = subject.sandbox;
  event.kind = kind;
  event.verdict = EgressVerdict::allowed;
  event.host = to_string(subject.target.host);
  event.port = subject.target.port;
  event.pid = subject.asker.pid;
  event.process = subject.asker.process;
  event.time_ms = sys::wall_clock_ms();
  return event;
}

void note_verdict(EgressEvent& event, const Verdict& verdict) {
  event.rule = verdict.rule_name();
  event.reason = verdict.reason;
  if (verdict.answer == Answer::deny || verdict.answer == Answer::hold) {
    event.verdict = EgressVerdict::denied;
    if (verdict.rules.empty())
      event.remedy = "--allow " + event.host + ":" + std::to_string(event.port);
  } else {
    event.verdict = verdict.audited ? EgressVerdict::audited : EgressVerdict::allowed;
  }
}

void note_error(EgressEvent& event, const Error& error) {
  const bool refused = error.code() == Code::permission_denied ||
                       error.code() == Code::resource_exhausted ||
                       error.code() == Code::data_corrupt || error.code() == Code::unsupported;
  event.verdict = refused ? EgressVerdict::denied : EgressVerdict::failed;
  if (refused && event.rule.empty()) event.rule = "egress";
  event.reason = error.describe();
  event.remedy = error.remedy();
}

}  // namespace paddock::egress
