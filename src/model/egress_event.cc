#include "model/egress_event.h"

#include <fmt/core.h>

namespace paddock::model {
namespace {

std::string describe(const EgressEvent& event) {
  switch (event.kind) {
    case EgressEventKind::name:
      return event.host;
    case EgressEventKind::connection:
      return fmt::format("tcp {}:{}", event.host, event.port);
    case EgressEventKind::request:
      return fmt::format("{} {}:{}{}", event.method, event.host, event.port, event.path);
    case EgressEventKind::socket:
      return "unix " + event.host;
    case EgressEventKind::rule:
      return "rule for " + event.host;
  }
  return event.host;
}

}  // namespace

Denial to_denial(const EgressEvent& event) {
  return {.kind = event.kind == EgressEventKind::name ? DenialKind::name : DenialKind::network,
          .what = describe(event),
          .rule = event.rule,
          .remedy = event.remedy.empty() ? event.reason : event.remedy,
          .pid = event.pid,
          .process = event.process,
          .count = 1,
          .first_ms = event.time_ms};
}

}  // namespace paddock::model
