// exec: a command in a sandbox of the daemon's, as if it ran here.
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/base64.h"
#include "base/strings.h"
#include "cmd/client/daemon_client.h"
#include "cmd/client/input_pump.h"
#include "cmd/client/sandbox_choice.h"
#include "cmd/console.h"
#include "cmd/verbs.h"
#include "model/json.h"
#include "model/outcome.h"
#include "sys/files.h"
#include "sys/signal_fd.h"
#include "sys/terminal.h"

namespace paddock::cmd {
namespace {

using boost::json::object;

constexpr int kPaddockCouldNot = 125;
constexpr size_t kMaxLine = 16u << 20;

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

// One command: lines of its events, with signals and the terminal's size sent beside them.
class Exec {
 public:
  Exec(const ExecArgs& args, model::HostPath home, std::string sandbox)
      : args_(args), home_(std::move(home)), base_("/paddock/v1/sandboxes/" + std::move(sandbox)) {}

  Result<model::Outcome> run() {
    // Before the thread of the pump, which must not be given these.
    sys::SignalFd signals =
        PD_TRY(sys::SignalFd::open({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH}));
    DaemonCall::Request request;
    request.method = "POST";
    request.target = base_ + "/exec";
    request.body = model::json_text(PD_TRY(body_of(args_)));
    DaemonCall call = PD_TRY(DaemonCall::start(home_, request));
    PD_TRY(call.check());
    std::optional<sys::RawMode> raw;
    if (args_.terminal) raw.emplace(PD_TRY(sys::RawMode::enter(STDIN_FILENO)));
    while (!outcome_) {
      const std::string bytes = PD_TRY(call.read());
      PD_TRY(take(bytes));
      if (outcome_ || call.is_done()) break;
      PD_TRY(wait(call, signals));
    }
    if (outcome_) return std::move(*outcome_);
    return Error(Code::unavailable, "the daemon ended before the command did");
  }

 private:
  // Until the daemon has something to say.
  Status wait(const DaemonCall& call, sys::SignalFd& signals) {
    while (true) {
      struct pollfd waiting[2] = {{call.fd(), POLLIN, 0}, {signals.fd(), POLLIN, 0}};
      if (::poll(waiting, 2, -1) < 0 && errno != EINTR) {
        return Error::from_errno(errno, "waiting for the daemon");
      }
      while (const auto number = signals.take()) pass_on(*number);
      if (waiting[0].revents != 0) return {};
    }
  }

  // What cannot be passed on is about a command that has ended.
  void pass_on(int number) {
    if (pid_.empty()) return;
    const std::string process = base_ + "/processes/" + pid_;
    if (number != SIGWINCH) {
      (void)call_daemon(home_, "POST", process + "/signal", {{"signal", number}}).ok();
    } else if (const auto size = sys::window_size(STDIN_FILENO); size && args_.terminal) {
      (void)call_daemon(home_, "POST", process + "/resize",
                        {{"rows", size->rows}, {"columns", size->columns}})
          .ok();
    }
  }

  Status take(const std::string& bytes) {
    buffer_ += bytes;
    size_t end;
    while ((end = buffer_.find('\n')) != std::string::npos) {
      const std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      PD_TRY(take_event(line));
    }
    if (buffer_.size() > kMaxLine) return Error(Code::data_corrupt, "an event without an end");
    return {};
  }

  Status take_event(const std::string& line) {
    const boost::json::value value = PD_TRY(model::parse_json(line));
    if (!value.is_object()) return Error(Code::data_corrupt, "an event that is no object");
    const object& event = value.get_object();
    const std::string kind = text_field(event, "event");
    if (kind == "started") {
      pid_ = text_field(event, "pid");
      const std::string target = base_ + "/processes/" + pid_ + "/input";
      if (args_.interactive) pump_ = PD_TRY(InputPump::start(home_, target, STDIN_FILENO));
    } else if (kind == "output") {
      const int to = text_field(event, "stream") == "stderr" ? STDERR_FILENO : STDOUT_FILENO;
      return write_out(to, PD_TRY(base64_decode(text_field(event, "data"))));
    } else if (kind == "ended") {
      outcome_ = PD_TRY(model::decode_outcome(text_field(event, "outcome")));
    } else if (kind == "lost") {
      const auto* error = event.if_contains("error");
      const bool told = error != nullptr && error->is_object();
      return Error(Code::unavailable, "the sandbox ended under the command: " +
                                          (told ? text_field(error->get_object(), "message") : ""));
    }
    return {};
  }

  // A reader of ours that has gone ends the command, as it would outside.
  Status write_out(int fd, const std::string& bytes) {
    for (size_t done = 0; done < bytes.size();) {
      const ssize_t count = ::write(fd, bytes.data() + done, bytes.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return Error::from_errno(errno, "writing the command's output");
      done += static_cast<size_t>(count);
    }
    return {};
  }

  const ExecArgs& args_;
  model::HostPath home_;
  std::string base_;  // of the sandbox
  std::string pid_;
  std::string buffer_;
  std::optional<model::Outcome> outcome_;
  std::unique_ptr<InputPump> pump_;
};

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
  return Exec(args, home, id).run();
}

// Before the command runs: one that cannot be written is said in time.
Result<sys::FileFd> open_outcome(const std::string& path) {
  if (path.empty()) return sys::FileFd();
  return sys::open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0644)
      .with_context("opening the outcome file");
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
