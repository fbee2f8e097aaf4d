// run: one command in a sandbox.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <utility>

#include "base/strings.h"
#include "cmd/console.h"
#include "cmd/learned_policy.h"
#include "cmd/outcome_file.h"
#include "cmd/report.h"
#include "cmd/verbs.h"
#include "cmd/view_choice.h"
#include "model/json.h"
#include "sys/files.h"
#include "sys/terminal.h"

namespace paddock::cmd {
namespace {

constexpr size_t kDenialsShown = 8;

engine::Stdio stdio_of_caller() {
  engine::Stdio stdio;
  // A terminal for the command only when the caller both types and reads at one: a pipe downstream
  // expects the bytes of the command, not those of a terminal.
  if (sys::is_terminal(STDIN_FILENO) && sys::is_terminal(STDOUT_FILENO)) {
    stdio.kind = engine::Stdio::Kind::terminal;
  }
  return stdio;
}

// What the command line knows and this version cannot give: refused, never ignored.
Status check_built(const RunArgs& args) {
  if (args.gpu) return Error(Code::unsupported, "--gpu: no level of this version gives a GPU");
  return {};
}

Result<engine::RunRequest> request_of(const RunArgs& args, Context& context) {
  PD_TRY(check_built(args));
  engine::RunRequest request;
  request.argv = args.command;
  request.directory = context.caller().directory;
  request.workspace = PD_TRY(context.workspace(args.workspace));
  request.workspace_as_spelled = context.spelling_of(args.workspace);
  if (!args.continue_view.empty()) {
    view::ViewStore* views = PD_TRY(context.views());
    view::ViewInfo info = PD_TRY(views->find(args.continue_view));
    if (args.workspace.empty()) request.workspace = info.workspace;
    if (info.workspace != request.workspace) {
      return Error(
          Code::invalid_argument,
          fmt::format("view {} is one of {}, not of {}", short_id(info.id),
                      printable(info.workspace.str()), printable(request.workspace.str())));
    }
    request.view = info.id;
  }
  request.policy = PD_TRY(context.settings(request.workspace, args.flags));
  // --workspace names where to work when the caller stands elsewhere.
  if (!request.workspace.contains(request.directory)) request.directory = request.workspace;
  request.caller_environment = context.caller().environment;
  request.caller_home = context.caller().home;
  request.stdio = stdio_of_caller();
  request.learning = args.learn ? engine::Learning::yes : engine::Learning::no;
  return request;
}

void say_decision(const model::Decision& decision) {
  if (decision.accepted_by) {
    say(fmt::format("{} code in a {}, which shares this machine's kernel: accepted by {}",
                    name_of(model::kTrustNames, decision.trust),
                    name_of(model::kLevelNames, decision.level), printable(*decision.accepted_by)));
  }
  for (const model::Control& control : decision.controls) {
    if (control.state == model::ControlState::refused) {
      say(fmt::format("not held: {}: {}", control.name, printable(control.detail)));
    }
  }
}

void say_report(const model::RunReport& report) {
  const model::Outcome& outcome = report.outcome;
  if (outcome.ending != model::Ending::exited || !outcome.reason.empty()) {
    say(describe_ending(outcome));
  }
  for (const std::string& line : split(describe_denials(outcome, "", kDenialsShown), '\n')) {
    if (!line.empty()) say(line);
  }
  if (report.view.empty()) return;
  say(fmt::format("view {}: {} (paddock diff, apply or discard)", short_id(report.view),
                  describe_counts(report.changes.value_or(model::ChangeCounts{}))));
}

void say_learned(const model::RunReport& report) {
  const std::string policy = learned_policy(report.network);
  say(policy.empty() ? "nothing was asked for that policy does not allow already"
                     : "the rules that would have allowed what was asked for:");
  fmt::print(stderr, "{}", policy);
}

// The outcome of a run that never came to be, for callers that read only the file.
model::RunReport report_of(const Error& error) {
  model::RunReport report;
  report.outcome.ending = model::Ending::setup_failed;
  report.outcome.reason = error.describe();
  return report;
}

Status write_outcome(const sys::FileFd& file, const model::RunReport& report) {
  if (!file.is_open()) return {};
  return sys::write_all(file, model::pretty(report)).with_context("writing the outcome");
}

Result<model::RunReport> run_in_sandbox(const RunArgs& args, Context& context) {
  engine::RunRequest request = PD_TRY(request_of(args, context));
  engine::Engine* engine = PD_TRY(context.engine());
  return engine->run(request, [&](const model::Decision& decision) {
    if (!args.quiet) say_decision(decision);
  });
}

}  // namespace

int run(const RunArgs& args, Context& context) {
  if (args.command.empty()) {
    say_error(Error(Code::invalid_argument, "no command to run")
                  .set_remedy("paddock run [OPTIONS] -- COMMAND [ARGUMENT…]"));
    return kPaddockCouldNot;
  }
  if (args.detach) return run_detached(args, context);
  auto outcome_file = open_outcome(args.outcome_file);
  if (!outcome_file.ok()) {
    say_error(outcome_file.error());
    return kPaddockCouldNot;
  }
  auto report = run_in_sandbox(args, context);
  Status written = write_outcome(*outcome_file, report.ok() ? *report : report_of(report.error()));
  // An error is said even with -q: without it the status alone would be taken for the command's.
  if (!report.ok()) say_error(report.error());
  if (!written.ok()) say_error(written.error());
  if (!report.ok() || !written.ok()) return kPaddockCouldNot;
  if (!args.quiet) say_report(*report);
  if (args.learn) say_learned(*report);
  return model::exit_status(report->outcome);
}

}  // namespace paddock::cmd
