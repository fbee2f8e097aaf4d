#include "engine/relay.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <variant>

#include "sys/clock.h"

namespace paddock::engine {
namespace {

constexpr int64_t kSecondUs = 1'000'000;
// The agent's own timer acts first; ours is for an agent that does not, or output nobody reads.
constexpr int64_t kBackstopUs = 2 * kSecondUs;
// For what a program has sent and not waited for: it may be on its way through both kernels.
constexpr int64_t kLastWordsUs = 2 * kSecondUs;
constexpr uint32_t kCommand = 1;
constexpr int kPollMs = 1000;

}  // namespace

Relay::Relay(isolation::Sandbox& sandbox, AgentLink& link, Denials& denials, RelayOptions options)
    : sandbox_(sandbox),
      link_(link),
      denials_(denials),
      options_(std::move(options)),
      out_(options_.stdio.output),
      err_(options_.stdio.error) {}

Result<RelayResult> Relay::run(wire::Start command) {
  signals_.emplace(PD_TRY(sys::SignalFd::open({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH})));
  std::optional<sys::RawMode> raw;
  if (options_.stdio.kind == Stdio::Kind::terminal) {
    raw.emplace(PD_TRY(sys::RawMode::enter(options_.stdio.input)));
  }
  PD_TRY(start(command));
  while (!finished()) PD_TRY(wait_once());
  result_.stdout_bytes = out_.written();
  result_.stderr_bytes = err_.written();
  PD_TRY(std::move(failure_));
  return std::move(result_);
}

bool Relay::finished() const {
  if (!result_.killed_because.empty()) return true;  // what nobody took by now is not waited for
  return (gone_ || result_.ended) && !out_.wants_to_write() && !err_.wants_to_write() &&
         !is_sending();
}

bool Relay::is_sending() const {
  return !gone_ && options_.egress != nullptr && options_.egress->is_sending() &&
         sys::monotonic_us() < last_words_us_;
}

Status Relay::start(wire::Start& command) {
  if (command.argv_size() > 0) result_.command = command.argv(0);
  command.set_command(kCommand);
  command.set_stdin_stream(kStdinStream);
  command.set_stdout_stream(kStdoutStream);
  command.set_stderr_stream(kStderrStream);
  for (wire::StreamId stream : {kStdinStream, kStdoutStream, kStderrStream}) {
    PD_TRY(link_.channel().open_stream(stream));
  }
  if (options_.stdio.kind == Stdio::Kind::terminal) {
    auto size = sys::window_size(options_.stdio.input).value_or(sys::WindowSize{});
    command.mutable_terminal()->set_rows(size.rows);
    command.mutable_terminal()->set_columns(size.columns);
  }
  wire::ToAgent message;
  *message.mutable_start() = std::move(command);
  PD_TRY_CTX("starting the command", link_.post(std::move(message)));
  int64_t now = sys::monotonic_us();
  if (options_.timeout_ms != 0) {
    deadline_us_ = now + static_cast<int64_t>(options_.timeout_ms) * 1000 + kBackstopUs;
  }
  next_watch_us_ = now + kSecondUs;
  return {};
}

Status Relay::wait_once() {
  // A stream that broke is seen by reading it: what the agent said before its end still counts.
  if (!gone_) (void)link_.flush().ok();
  bool input_wanted = input_open_ && started_ && !gone_ && !result_.ended &&
                      link_.channel().sendable(kStdinStream) > 0;
  auto events = [](bool wanted, short event) { return static_cast<short>(wanted ? event : 0); };
  const bool listening = link_.channel().output().size() < kMaxAgentBacklog;
  EgressBridge* egress = gone_ ? nullptr : options_.egress;
  std::array<pollfd, 6> fds{pollfd{gone_ ? -1 : sandbox_.stream().get(),
                                   static_cast<short>(events(listening, POLLIN) |
                                                      events(link_.wants_to_write(), POLLOUT)),
                                   0},
                            pollfd{signals_->fd(), POLLIN, 0},
                            pollfd{input_wanted ? options_.stdio.input : -1, POLLIN, 0},
                            pollfd{out_.wants_to_write() ? out_.fd() : -1, POLLOUT, 0},
                            pollfd{err_.wants_to_write() ? err_.fd() : -1, POLLOUT, 0},
                            pollfd{egress != nullptr ? egress->fd() : -1, POLLIN, 0}};
  if (::poll(fds.data(), fds.size(), egress_has_more_ ? 0 : kPollMs) < 0 && errno != EINTR) {
    return Error::from_errno(errno, "waiting for the command");
  }
  if ((fds[1].revents & POLLIN) != 0) take_signals();
  if (fds[2].revents != 0) read_input();
  if ((fds[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
    Status filled = link_.fill();
    PD_TRY(take_events());
    if (!filled.ok()) {
      gone_ = true;
      // The end of the stream is the sandbox's end, told by the outcome; anything else is a fault.
      if (filled.error().code() == Code::data_corrupt) failure_ = std::move(filled);
    }
  }
  if (fds[5].revents != 0) egress->on_ready();
  egress_has_more_ = !gone_ && egress != nullptr && egress->pump();
  drain(out_, kStdoutStream);
  drain(err_, kStderrStream);
  check_clocks();
  return {};
}

Status Relay::take_events() {
  while (auto event = link_.channel().next_event()) {
    if (take_egress(*event)) continue;
    if (auto* message = std::get_if<wire::ToHost>(&*event)) {
      take(std::move(*message));
    } else if (auto* data = std::get_if<wire::StreamData>(&*event)) {
      take(std::move(*data));
    } else if (auto* reset = std::get_if<wire::StreamReset>(&*event)) {
      if (reset->stream == kStdinStream) input_open_ = false;
    }
  }
  return {};
}

// Questions for the gate, and whatever is about a connection.
bool Relay::take_egress(wire::HostChannel::Event& event) {
  if (auto* message = std::get_if<wire::ToHost>(&event)) {
    if (!message->has_name_query() && !message->has_connect_query()) return false;
    if (options_.egress == nullptr) {
      failure_ = Error(Code::data_corrupt, "the agent asks for a way out that it was not given");
      gone_ = true;
    } else if (message->has_name_query()) {
      options_.egress->take(message->name_query());
    } else {
      options_.egress->take(message->connect_query());
    }
    return true;
  }
  return std::visit(
      [&](auto& about) {
        if constexpr (requires { about.stream; }) {
          if (options_.egress == nullptr || !options_.egress->owns(about.stream)) return false;
          options_.egress->take(std::move(about));
          return true;
        }
        return false;
      },
      event);
}

void Relay::take(wire::ToHost message) {
  if (message.has_started()) {
    started_ = true;
  } else if (message.has_ended() && message.ended().command() == kCommand && !result_.ended) {
    result_.ended = std::move(*message.mutable_ended());
    last_words_us_ = sys::monotonic_us() + kLastWordsUs;
  } else if (message.has_denied()) {
    denials_.add(message.denied());
  } else if (message.has_failure() && !started_ && !result_.ended) {
    // Later ones are of signals and sizes for a command that has just ended.
    failure_ =
        Error(Code::internal, "starting the command: the agent: " + message.failure().message());
    gone_ = true;
  }
}

void Relay::take(wire::StreamData data) {
  Sink& sink = data.stream == kStdoutStream ? out_ : err_;
  if (sink.closed()) {
    link_.channel().consumed(data.stream, data.bytes.size());
    return;
  }
  sink.add(data.bytes);
  link_.channel().recycle(std::move(data.bytes));
}

void Relay::drain(Sink& sink, wire::StreamId stream) {
  bool was_closed = sink.closed();
  while (size_t written = sink.write_some()) link_.channel().consumed(stream, written);
  // Our reader is gone: the command learns it as it would outside, by SIGPIPE.
  if (sink.closed() && !was_closed && !result_.ended) link_.channel().reset_stream(stream);
}

void Relay::read_input() {
  std::array<char, 65536> buffer;
  size_t room = std::min(buffer.size(), link_.channel().sendable(kStdinStream));
  ssize_t n = ::read(options_.stdio.input, buffer.data(), room);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n > 0) {
    link_.channel().send_data(kStdinStream, {buffer.data(), static_cast<size_t>(n)});
    return;
  }
  input_open_ = false;
  link_.channel().end_stream(kStdinStream);
}

void Relay::take_signals() {
  while (auto signal = signals_->take()) {
    wire::ToAgent message;
    if (*signal == SIGWINCH) {
      auto size = sys::window_size(options_.stdio.input);
      if (!size || options_.stdio.kind != Stdio::Kind::terminal) continue;
      message.mutable_resize()->set_command(kCommand);
      message.mutable_resize()->mutable_terminal()->set_rows(size->rows);
      message.mutable_resize()->mutable_terminal()->set_columns(size->columns);
    } else {
      // The first one is the command's to handle; who sends another wants it over.
      if (++signals_seen_ > 1 || *signal == SIGHUP) {
        result_.killed_by_signal = *signal;
        end_sandbox("signal " + std::to_string(*signal) + " to paddock");
        return;
      }
      message.mutable_signal()->set_command(kCommand);
      message.mutable_signal()->set_number(*signal);
    }
    if (auto posted = link_.post(std::move(message)); !posted.ok()) failure_ = std::move(posted);
  }
}

void Relay::end_sandbox(std::string reason) {
  if (result_.killed_because.empty()) result_.killed_because = std::move(reason);
  if (auto destroyed = sandbox_.destroy(); !destroyed.ok()) failure_ = std::move(destroyed);
  gone_ = true;
}

void Relay::check_clocks() {
  int64_t now = sys::monotonic_us();
  if (deadline_us_ != 0 && now >= deadline_us_) {
    result_.timed_out = true;
    end_sandbox("timeout");
    return;
  }
  if (now < next_watch_us_ || !options_.watch || result_.ended) return;
  auto reason = options_.watch();
  // A watch that takes long is asked less often: at most a twentieth of the time goes into it.
  int64_t after = sys::monotonic_us();
  next_watch_us_ = after + std::max(kSecondUs, (after - now) * 20);
  if (reason) end_sandbox(std::move(*reason));
}

}  // namespace paddock::engine
