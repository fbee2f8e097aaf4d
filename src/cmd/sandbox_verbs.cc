// create, ps, inspect, kill, logs, usage: sandboxes of the daemon, from the command line.
#include <fmt/core.h>

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "base/strings.h"
#include "cmd/client/daemon_client.h"
#include "cmd/client/sandbox_choice.h"
#include "cmd/console.h"
#include "cmd/verbs.h"
#include "model/json.h"

namespace paddock::cmd {
namespace {

using boost::json::object;

constexpr const char* kSandboxes = "/paddock/v1/sandboxes";

// ---- create

Result<object> pairs_of(const std::vector<std::string>& words, const char* option) {
  object out;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error(Code::invalid_argument,
                   fmt::format("{} {}: not the form NAME=VALUE", option, printable(word)));
    }
    out[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return out;
}

Status create_one(const CreateArgs& args, Context& context) {
  const model::HostPath home = PD_TRY(context.home());
  object body;
  body["template"] = args.template_name;
  body["environment"] = PD_TRY(pairs_of(args.environment, "--env"));
  body["metadata"] = PD_TRY(pairs_of(args.metadata, "--metadata"));
  if (!args.timeout.empty()) body["timeout_s"] = PD_TRY(parse_seconds(args.timeout));
  if (!args.workspace.empty()) body["workspace"] = context.spelling_of(args.workspace).str();
  const object made = PD_TRY(call_daemon(home, "POST", kSandboxes, body));
  print(args.json ? model::pretty_json(made) : text_field(made, "id") + "\n");
  return {};
}

// ---- ps

std::string words_of_metadata(const object& metadata) {
  std::vector<std::string> out;
  for (const auto& [name, value] : metadata) {
    out.push_back(std::string(name) + "=" +
                  (value.is_string() ? std::string(value.get_string()) : ""));
  }
  return join(out, " ");
}

Status list_all(const SandboxArgs& args, Context& context) {
  const model::HostPath home = PD_TRY(context.home());
  const object answer = PD_TRY(call_daemon(home, "GET", kSandboxes));
  if (args.json) {
    print(model::pretty_json(answer));
    return {};
  }
  std::vector<std::vector<std::string>> rows{
      {"SANDBOX", "TEMPLATE", "STATE", "CREATED", "UNTIL", "KEY", "METADATA"}};
  for (const object& sandbox : list_field(answer, "sandboxes")) {
    const auto* metadata = sandbox.if_contains("metadata");
    const bool has = metadata != nullptr && metadata->is_object();
    rows.push_back({text_field(sandbox, "id"), text_field(sandbox, "template"),
                    text_field(sandbox, "state"), text_field(sandbox, "created"),
                    text_field(sandbox, "deadline"), text_field(sandbox, "key"),
                    has ? words_of_metadata(metadata->get_object()) : ""});
  }
  if (rows.size() == 1) {
    say("no sandboxes: `paddock create` makes one");
    return {};
  }
  print(table(rows));
  return {};
}

// ---- of one

Status inspect_one(const SandboxArgs& args, Context& context) {
  const model::HostPath home = PD_TRY(context.home());
  const std::string id = PD_TRY(find_sandbox(home, args.sandboxes.front()));
  print(model::pretty_json(PD_TRY(call_daemon(home, "GET", std::string(kSandboxes) + "/" + id))));
  return {};
}

Status kill_all(const SandboxArgs& args, Context& context) {
  const model::HostPath home = PD_TRY(context.home());
  boost::json::array killed;
  for (const std::string& name : args.sandboxes) {
    const std::string id = PD_TRY(find_sandbox(home, name));
    (void)PD_TRY(call_daemon(home, "DELETE", std::string(kSandboxes) + "/" + id));
    killed.emplace_back(id);
    if (!args.json) print(id + "\n");
  }
  if (args.json) print(model::pretty_json(object{{"killed", std::move(killed)}}));
  return {};
}

// ---- what happened

// Of one that may be gone: its id as it is.
Status show_events(const SandboxArgs& args, Context& context) {
  const model::HostPath home = PD_TRY(context.home());
  const object answer = PD_TRY(
      call_daemon(home, "GET", "/paddock/v1/events?sandbox=" + url_encode(args.sandboxes.front())));
  if (args.json) {
    print(model::pretty_json(answer));
    return {};
  }
  for (const object& event : list_field(answer, "events")) {
    std::string line = text_field(event, "time") + "  " + text_field(event, "event");
    for (const auto& [name, value] : event) {
      const bool is_shown = name == "seq" || name == "time" || name == "event" || name == "sandbox";
      if (is_shown || value.is_structured()) continue;
      line += fmt::format("  {}={}", std::string_view(name), text_field(event, name));
    }
    print(printable(line) + "\n");
  }
  return {};
}

Status show_usage(const SandboxArgs& args, Context& context) {
  const model::HostPath home = PD_TRY(context.home());
  const object answer =
      PD_TRY(call_daemon(home, "GET", "/paddock/v1/usage?since=" + url_encode(args.since)));
  if (args.json) {
    print(model::pretty_json(answer));
    return {};
  }
  std::vector<std::vector<std::string>> rows{
      {"DAY", "KEY", "LABEL", "SANDBOXES", "SECONDS", "CPU SECONDS", "IN", "OUT"}};
  auto seconds = [](uint64_t value, double unit) {
    return fmt::format("{:.1f}", static_cast<double>(value) / unit);
  };
  for (const object& row : list_field(answer, "usage")) {
    rows.push_back({text_field(row, "day"), text_field(row, "key"), text_field(row, "label"),
                    text_field(row, "sandboxes"), seconds(number_field(row, "sandbox_ms"), 1e3),
                    seconds(number_field(row, "cpu_us"), 1e6),
                    approximate_bytes(number_field(row, "received_bytes")),
                    approximate_bytes(number_field(row, "sent_bytes"))});
  }
  print(table(rows));
  return {};
}

Status act(const SandboxArgs& args, Context& context) {
  switch (args.verb) {
    case SandboxArgs::Verb::list:
      return list_all(args, context);
    case SandboxArgs::Verb::inspect:
      return inspect_one(args, context);
    case SandboxArgs::Verb::kill:
      return kill_all(args, context);
    case SandboxArgs::Verb::events:
      return show_events(args, context);
    case SandboxArgs::Verb::usage:
      return show_usage(args, context);
  }
  return {};
}

}  // namespace

int create(const CreateArgs& args, Context& context) {
  const Status made = create_one(args, context);
  return made.ok() ? 0 : fail(made.error());
}

int sandbox(const SandboxArgs& args, Context& context) {
  const Status done = act(args, context);
  return done.ok() ? 0 : fail(done.error());
}

}  // namespace paddock::cmd
