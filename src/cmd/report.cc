#include "cmd/report.h"

#include <fmt/core.h>

#include <vector>

#include "base/strings.h"
#include "cmd/console.h"

namespace paddock::cmd {
namespace {

std::string describe(const model::Denial& denial) {
  std::string text =
      fmt::format("{} {}", name_of(model::kDenialKindNames, denial.kind), printable(denial.what));
  if (!denial.process.empty()) text += fmt::format(" by {}", printable(denial.process));
  if (denial.pid != 0) text += fmt::format("[{}]", denial.pid);
  if (denial.count > 1) text += fmt::format(", {} times", denial.count);
  return text + fmt::format(" ({})", printable(denial.rule));
}

}  // namespace

std::string describe_ending(const model::Outcome& outcome) {
  std::string text;
  switch (outcome.ending) {
    case model::Ending::exited:
      text = fmt::format("exit {}", outcome.code);
      break;
    case model::Ending::signalled:
      text = "killed by " + outcome.reason;
      return text;
    case model::Ending::timed_out:
      text = "timed out";
      break;
    case model::Ending::oom_killed:
      text = "out of memory";
      break;
    case model::Ending::killed:
      text = "killed";
      break;
    case model::Ending::violated:
      text = "killed for a limit";
      break;
    case model::Ending::setup_failed:
      text = "did not start";
      break;
  }
  return outcome.reason.empty() ? text : text + ": " + printable(outcome.reason);
}

std::string describe_denials(const model::Outcome& outcome, std::string_view indent, size_t limit) {
  std::string text;
  for (size_t i = 0; i < outcome.denials.size() && i < limit; ++i) {
    text += fmt::format("{}denied: {}\n", indent, describe(outcome.denials[i]));
  }
  size_t shown = std::min(limit, outcome.denials.size());
  uint64_t more = outcome.denials.size() - shown + outcome.denials_dropped;
  if (more > 0) text += fmt::format("{}… and {} more\n", indent, more);
  return text;
}

namespace {

std::string asked_of(const model::EgressEvent& event) {
  if (event.kind == model::EgressEventKind::name) return "name " + event.host;
  if (event.kind == model::EgressEventKind::socket) return "unix " + event.host;
  if (event.kind == model::EgressEventKind::rule) return "rule " + event.host;
  const std::string place = fmt::format("{}:{}", event.host, event.port);
  if (event.kind == model::EgressEventKind::connection) return event.protocol + " " + place;
  return fmt::format("{} {}{}", event.method, place, event.path);
}

}  // namespace

std::string describe_network(const model::NetworkRecord& record, std::string_view indent) {
  std::vector<std::vector<std::string>> rows;
  for (const model::EgressEvent& event : record.events) {
    std::string credentials;
    for (const std::string& name : event.credentials) credentials += " +" + name;
    const std::string traffic =
        event.kind == model::EgressEventKind::name || event.kind == model::EgressEventKind::rule
            ? ""
            : fmt::format("{} out, {} in", approximate_bytes(event.request_bytes),
                          approximate_bytes(event.response_bytes));
    rows.push_back(
        {std::string(indent) + std::string(name_of(model::kEgressVerdictNames, event.verdict)),
         printable(asked_of(event)) + credentials, event.rule, traffic, printable(event.process),
         printable(event.reason)});
  }
  std::string text = table(rows);
  if (record.dropped > 0) text += fmt::format("{}… and {} more\n", indent, record.dropped);
  return text;
}

std::string describe_decision(const model::Decision& decision) {
  std::string text =
      fmt::format("  level {} for {} code, root {}\n", name_of(model::kLevelNames, decision.level),
                  name_of(model::kTrustNames, decision.trust), printable(decision.root_template));
  if (decision.accepted_by) {
    text +=
        fmt::format("  weaker than {} code requires: accepted by {}\n",
                    name_of(model::kTrustNames, decision.trust), printable(*decision.accepted_by));
  }
  std::vector<std::vector<std::string>> rows;
  for (const model::Control& control : decision.controls) {
    rows.push_back({"  " + control.name,
                    std::string(name_of(model::kControlStateNames, control.state)),
                    control.detail});
  }
  text += table(rows);
  for (const std::string& grant : decision.grants) text += "  granted: " + printable(grant) + "\n";
  constexpr size_t kShown = 20;
  for (size_t i = 0; i < decision.hidden.size() && i < kShown; ++i) {
    text += "  hidden: " + printable(decision.hidden[i]) + "\n";
  }
  if (decision.hidden.size() > kShown) {
    text += fmt::format("  hidden: … and {} more\n", decision.hidden.size() - kShown);
  }
  return text;
}

std::string describe_counts(const model::ChangeCounts& counts) {
  std::vector<std::string> parts;
  auto add = [&](uint32_t count, std::string_view word) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, word));
  };
  add(counts.added, "added");
  add(counts.modified, "modified");
  add(counts.deleted, "deleted");
  add(counts.renamed, "renamed");
  add(counts.held, "held back at apply");
  return parts.empty() ? "nothing of the working files" : join(parts, ", ");
}

}  // namespace paddock::cmd
