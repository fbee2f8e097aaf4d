// run --detach and attach: a command that goes on without us, in the daemon.
#include <fmt/core.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "cmd/client/command_events.h"
#include "cmd/client/daemon_client.h"
#include "cmd/client/sandbox_choice.h"
#include "cmd/console.h"
#include "cmd/report.h"
#include "cmd/verbs.h"
#include "model/json.h"
#include "sys/terminal.h"

namespace paddock::cmd {
namespace {

using boost::json::object;

constexpr const char* kRuns = "/paddock/v1/runs";
constexpr size_t kShortestRunPrefix = 4;
// A sandbox lives that much longer than its command may.
constexpr uint64_t kSlackSeconds = 60;

// Settings are the daemon's: what is said here and would not hold is refused.
Status check_settings(const RunArgs& args) {
  for (const policy::FlagValue& flag : args.flags) {
    if (flag.key == "limits.timeout") continue;
    return Error(Code::invalid_argument,
                 fmt::format("--detach: `{}` is decided by the daemon's policy", flag.key))
        .set_remedy("say it to `paddock serve`, or in the workspace's paddock.toml");
  }
  const std::pair<bool, const char*> refused[] = {{!args.continue_view.empty(), "--continue"},
                                                  {!args.outcome_file.empty(), "--outcome"},
                                                  {args.learn, "--learn"},
                                                  {args.gpu, "--gpu"}};
  for (const auto& [given, option] : refused) {
    if (!given) continue;
    return Error(Code::unsupported, fmt::format("--detach with {}", option))
        .set_remedy("leave one of both out");
  }
  return {};
}

Result<object> body_of(const RunArgs& args, Context& context) {
  PD_TRY(check_settings(args));
  object body;
  boost::json::array argv;
  for (const std::string& word : args.command) argv.emplace_back(word);
  body["argv"] = std::move(argv);
  const model::HostPath workspace = PD_TRY(context.workspace(args.workspace));
  body["workspace"] = context.spelling_of(args.workspace).str();
  const model::HostPath& here = context.caller().directory;
  body["directory"] = workspace.contains(here) ? here.str() : workspace.str();
  const auto settings = PD_TRY(context.settings(workspace, args.flags)).settings;
  if (const uint64_t seconds = settings.limits.timeout_seconds; seconds != 0) {
    body["timeout_ms"] = seconds * 1000;
    body["timeout_s"] = seconds + kSlackSeconds;
  }
  const bool at_terminal = sys::is_terminal(STDIN_FILENO) && sys::is_terminal(STDOUT_FILENO);
  if (args.terminal || at_terminal) {
    const auto size = sys::window_size(STDIN_FILENO).value_or(sys::WindowSize{});
    body["terminal"] = object{{"rows", size.rows}, {"columns", size.columns}};
  }
  body["input"] = args.interactive;
  return body;
}

Status start_detached(const RunArgs& args, Context& context) {
  const model::HostPath home = PD_TRY(context.home());
  const object body = PD_TRY(body_of(args, context));
  const object made = PD_TRY(call_daemon(home, "POST", kRuns, body));
  const std::string id = text_field(made, "id");
  print(id + "\n");
  if (!args.quiet) say(fmt::format("`paddock attach {0}` returns to it", id.substr(0, 8)));
  return {};
}

// ---- attach

std::string words_of(const object& run) {
  auto words = model::get_bytes_list(run, "argv");
  return words.ok() ? shell_words(*words) : "";
}

Status list_runs(const model::HostPath& home, const AttachArgs& args) {
  const object answer = PD_TRY(call_daemon(home, "GET", kRuns));
  if (args.json) {
    print(model::pretty_json(answer));
    return {};
  }
  std::vector<std::vector<std::string>> rows{{"RUN", "STATE", "ENDED", "COMMAND"}};
  for (const object& run : list_field(answer, "runs")) {
    rows.push_back({text_field(run, "id"), text_field(run, "state"), text_field(run, "ended"),
                    printable(words_of(run))});
  }
  if (rows.size() == 1) {
    say("no detached runs: `paddock run --detach -- COMMAND` starts one");
  } else {
    print(table(rows));
  }
  return {};
}

Result<object> find_run(const model::HostPath& home, const std::string& name) {
  const object answer = PD_TRY(call_daemon(home, "GET", kRuns));
  std::vector<object> named;
  for (const object& run : list_field(answer, "runs")) {
    const std::string id = text_field(run, "id");
    if (id == name) return run;
    if (name.size() >= kShortestRunPrefix && id.starts_with(name)) named.push_back(run);
  }
  if (named.size() == 1) return named.front();
  if (named.empty()) {
    return Error(Code::not_found, fmt::format("no detached run '{}'", printable(name)))
        .set_remedy("`paddock attach` lists them");
  }
  return Error(Code::conflict, fmt::format("'{}' names several runs", printable(name)))
      .set_remedy("give more of its id");
}

Result<std::optional<model::Outcome>> attach_to(const AttachArgs& args, Context& context) {
  const model::HostPath home = PD_TRY(context.home());
  const object run = PD_TRY(find_run(home, args.run));
  const std::string id = text_field(run, "id");
  CommandEvents::Options options;
  options.home = home;
  options.sandbox = id;
  options.terminal = sys::is_terminal(STDIN_FILENO);
  const bool types = options.terminal && text_field(run, "terminal") == "true";
  const bool feeds = args.interactive && text_field(run, "input") == "true";
  if (types || feeds) options.input = CommandEvents::Input::until_detached;
  options.on_hangup = CommandEvents::OnHangup::detach;
  DaemonCall::Request request;
  request.method = "GET";
  request.target = fmt::format("{}/{}/output?from={}", kRuns, id, args.from);
  return CommandEvents(std::move(options)).follow(request);
}

}  // namespace

int run_detached(const RunArgs& args, Context& context) {
  const Status started = start_detached(args, context);
  if (started.ok()) return 0;
  say_error(started.error());
  return kPaddockCouldNot;
}

int attach(const AttachArgs& args, Context& context) {
  if (args.run.empty()) {
    auto home = context.home();
    const Status listed = home.ok() ? list_runs(*home, args) : Status(home.error());
    return listed.ok() ? 0 : fail(listed.error());
  }
  auto outcome = attach_to(args, context);
  if (!outcome.ok()) {
    say_error(outcome.error());
    return kPaddockCouldNot;
  }
  if (!*outcome) {
    say("left; it goes on");
    return 0;
  }
  const model::Outcome& how = **outcome;
  if (how.ending != model::Ending::exited || !how.reason.empty()) say(describe_ending(how));
  return model::exit_status(how);
}

}  // namespace paddock::cmd
