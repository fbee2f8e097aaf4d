#include "cmd/client/command_events.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/base64.h"
#include "cmd/client/sandbox_choice.h"
#include "model/json.h"

namespace paddock::cmd {
namespace {

using boost::json::object;

constexpr size_t kMaxLine = 16u << 20;

bool flag_field(const object& from, std::string_view name) {
  const auto* value = from.if_contains(name);
  return value != nullptr && value->is_bool() && value->get_bool();
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

}  // namespace

Result<std::optional<model::Outcome>> CommandEvents::follow(const DaemonCall::Request& request) {
  // Before the thread of the pump, which must not be given these.
  sys::SignalFd signals = PD_TRY(sys::SignalFd::open({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH}));
  DaemonCall call = PD_TRY(DaemonCall::start(options_.home, request));
  PD_TRY(call.check());
  while (!outcome_) {
    const std::string bytes = PD_TRY(call.read());
    PD_TRY(take(bytes));
    if (outcome_ || call.is_done()) break;
    PD_TRY(wait(call, signals));
    if (is_left_) return std::optional<model::Outcome>();
  }
  if (outcome_) return std::move(outcome_);
  return Error(Code::unavailable, "the daemon ended before the command did");
}

// Until the daemon has something to say, or the command is left.
Status CommandEvents::wait(const DaemonCall& call, sys::SignalFd& signals) {
  while (true) {
    const int left = pump_ ? pump_->detached_fd() : -1;
    struct pollfd waiting[3] = {
        {call.fd(), POLLIN, 0}, {signals.fd(), POLLIN, 0}, {left, POLLIN, 0}};
    if (::poll(waiting, 3, -1) < 0 && errno != EINTR) {
      return Error::from_errno(errno, "waiting for the daemon");
    }
    while (const auto number = signals.take()) pass_on(*number);
    if (waiting[2].revents != 0) is_left_ = true;
    if (waiting[0].revents != 0 || is_left_) return {};
  }
}

// What cannot be passed on is about a command that has ended.
void CommandEvents::pass_on(int number) {
  if (number == SIGHUP && options_.on_hangup == OnHangup::detach) {
    is_left_ = true;
    return;
  }
  if (pid_.empty()) return;
  if (number == SIGWINCH) return resize();
  (void)call_daemon(options_.home, "POST", base_ + "/processes/" + pid_ + "/signal",
                    {{"signal", number}})
      .ok();
}

void CommandEvents::resize() {
  const auto size = sys::window_size(STDIN_FILENO);
  if (!size || !raw_) return;
  (void)call_daemon(options_.home, "POST", base_ + "/processes/" + pid_ + "/resize",
                    {{"rows", size->rows}, {"columns", size->columns}})
      .ok();
}

Status CommandEvents::take(const std::string& bytes) {
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

// One that has ended already reads no input and has no use for a size.
Status CommandEvents::begin(const object& event) {
  if (flag_field(event, "has_ended")) return {};
  pid_ = text_field(event, "pid");
  if (options_.terminal && flag_field(event, "terminal")) {
    raw_.emplace(PD_TRY(sys::RawMode::enter(STDIN_FILENO)));
    resize();
  }
  if (options_.input == Input::none) return {};
  const auto keys = raw_ && options_.input == Input::until_detached ? InputPump::Keys::detach
                                                                    : InputPump::Keys::none;
  pump_ = PD_TRY(
      InputPump::start(options_.home, base_ + "/processes/" + pid_ + "/input", STDIN_FILENO, keys));
  return {};
}

Status CommandEvents::take_event(const std::string& line) {
  const boost::json::value value = PD_TRY(model::parse_json(line));
  if (!value.is_object()) return Error(Code::data_corrupt, "an event that is no object");
  const object& event = value.get_object();
  const std::string kind = text_field(event, "event");
  if (kind == "started") return begin(event);
  if (kind == "output") {
    const int to = text_field(event, "stream") == "stderr" ? STDERR_FILENO : STDOUT_FILENO;
    const std::string bytes = PD_TRY(base64_decode(text_field(event, "data")));
    return write_out(to, bytes);
  }
  if (kind == "ended") outcome_ = PD_TRY(model::decode_outcome(text_field(event, "outcome")));
  if (kind == "lost") {
    const auto* error = event.if_contains("error");
    const bool told = error != nullptr && error->is_object();
    return Error(Code::unavailable, "the sandbox ended under the command: " +
                                        (told ? text_field(error->get_object(), "message") : ""));
  }
  return {};
}

}  // namespace paddock::cmd
