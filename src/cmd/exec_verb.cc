// exec: a command in a sandbox of the daemon's, as if it ran here.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <string>
#include <utility>

#include "base/strings.h"
#include "cmd/client/command_events.h"
#include "cmd/client/daemon_client.h"
#include "cmd/client/sandbox_choice.h"
#include "cmd/console.h"
#include "cmd/outcome_file.h"
#include "cmd/verbs.h"
#include "model/json.h"
#include "model/outcome.h"
#include "sys/files.h"
#include "sys/terminal.h"

namespace paddock::cmd {
namespace {

using boost::json::object;

Result<object> body_of(const ExecArgs& args) {
  object body;
  boost::json::array argv;
  for (const std::string& word : args.command) argv.emplace_back(word);
  body["argv"] = std::move(argv);
  object environment;
  for (const std::string& word : args.environment) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error(Code::invalid_argument,
                   fmt::format("--env {}: not the form NAME=VALUE", printable(word)));
    }
    environment[word.substr(0, equals)] = word.substr(equals + 1);
  }
  body["environment"] = std::move(environment);
  if (!args.directory.empty()) body["directory"] = args.directory;
  if (!args.timeout.empty()) body["timeout_ms"] = PD_TRY(parse_seconds(args.timeout)) * 1000;
  if (args.terminal) {
    const auto size = sys::window_size(STDIN_FILENO).value_or(sys::WindowSize{});
    body["terminal"] = object{{"rows", size.rows}, {"columns", size.columns}};
  }
  body["input"] = args.interactive;
  body["on_leave"] = "kill";
  return body;
}

Result<model::Outcome> run_there(const ExecArgs& args, Context& context) {
  if (args.command.empty()) {
    return Error(Code::invalid_argument, "no command to run")
        .set_remedy("paddock exec [OPTIONS] SANDBOX -- COMMAND [ARGUMENT…]");
  }
  if (args.terminal && !sys::is_terminal(STDIN_FILENO)) {
    return Error(Code::invalid_argument, "-t: stdin is no terminal");
  }
  const model::HostPath home = PD_TRY(context.home());
  const std::string id = PD_TRY(find_sandbox(home, args.sandbox));
  CommandEvents::Options options;
  options.home = home;
  options.sandbox = id;
  options.terminal = args.terminal;
  if (args.interactive) options.input = CommandEvents::Input::pass_on;
  DaemonCall::Request request;
  request.method = "POST";
  request.target = "/paddock/v1/sandboxes/" + id + "/exec";
  request.body = model::json_text(PD_TRY(body_of(args)));
  auto outcome = PD_TRY(CommandEvents(std::move(options)).follow(request));
  return std::move(*outcome);
}

}  // namespace

int exec(const ExecArgs& args, Context& context) {
  auto file = open_outcome(args.outcome_file);
  if (!file.ok()) {
    say_error(file.error());
    return kPaddockCouldNot;
  }
  auto outcome = run_there(args, context);
  if (!outcome.ok()) {
    say_error(outcome.error());
    return kPaddockCouldNot;
  }
  if (!outcome->reason.empty()) say(outcome->reason);
  if (file->is_open()) {
    Status written = sys::write_all(*file, model::pretty_json(model::to_json(*outcome)));
    if (!written.ok()) {
      say_error(written.error());
      return kPaddockCouldNot;
    }
  }
  return model::exit_status(*outcome);
}

}  // namespace paddock::cmd
