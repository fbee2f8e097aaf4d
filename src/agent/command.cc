#include "agent/command.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "agent/launch.h"
#include "agent/supervisor.h"
#include "base/strings.h"
#include "sys/pipe.h"
#include "sys/pty.h"

namespace paddock::agent {
namespace {

// What is still writing when the first process has ended may finish within this time.
constexpr uint64_t kLeftoverGraceMs = 100;
// A supervisor kills within milliseconds; one that does not has been stopped by somebody inside.
constexpr uint64_t kEscalationMs = 500;

std::string describe(LaunchStep step) {
  switch (step) {
    case LaunchStep::none:
      break;
    case LaunchStep::landlock:
      return "confining the command by Landlock";
    case LaunchStep::terminal:
      return "giving the command its session";
    case LaunchStep::streams:
      return "connecting the command's streams";
    case LaunchStep::directory:
      return "entering the command's directory";
    case LaunchStep::limits:
      return "setting the command's limits";
    case LaunchStep::identity:
      return "becoming the command's user";
    case LaunchStep::exec:
      return "executing the command";
  }
  return "starting the command";
}

Result<sys::Fd> open_null() {
  sys::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.is_open()) return Error::from_errno(errno, "opening /dev/null");
  return null;
}

Result<sys::Fd> duplicate(const sys::Fd& fd) {
  sys::Fd copy(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
  if (!copy.is_open()) return Error::from_errno(errno, "duplicating a descriptor");
  return copy;
}

}  // namespace

// The command's ends of its streams, on their way into the launch plan.
struct Command::ChildEnds {
  sys::Fd streams[3];
};

Command::Command(const wire::ToAgent& message, const Loop& loop)
    : loop_(loop),
      id_(message.start().command()),
      request_(message.request()),
      streams_{message.start().stdin_stream(), message.start().stdout_stream(),
               message.start().stderr_stream()},
      terminal_(message.start().has_terminal()),
      keep_leftovers_(message.start().keep_leftovers()),
      timeout_ms_(message.start().timeout_ms()) {
  if (message.start().output_limit() > 0) budget_.left = message.start().output_limit();
  if (const uint64_t kept = message.start().keep_output(); kept > 0) {
    ring_ = std::make_unique<OutputRing>(std::min(kept, wire::kMaxKeptOutput), loop.kept_output);
    note_ = message.start().note();
  }
  ended_.set_command(id_);
}

Command::~Command() {
  loop_.timers.cancel_all_of(id_);
}

Result<std::unique_ptr<Command>> Command::start(const wire::ToAgent& message, const Loop& loop,
                                                uint64_t token_base) {
  std::unique_ptr<Command> command(new Command(message, loop));
  Status done = command->fork_supervisor(message.start());
  if (done.ok()) done = command->watch(token_base);
  if (done.ok()) return command;
  for (wire::StreamId stream : command->streams_) loop.channel.close_stream(stream);
  if (command->supervisor_pid_ > 0) ::kill(command->supervisor_pid_, SIGKILL);
  return std::move(done).error();
}

Status Command::connect(const wire::Start& start, ChildEnds& ends) {
  if (terminal_) {
    sys::PtyPair pty = PD_TRY(sys::open_pty({start.terminal().rows(), start.terminal().columns()}));
    ends.streams[1] = PD_TRY(duplicate(pty.slave));
    ends.streams[2] = PD_TRY(duplicate(pty.slave));
    ends.streams[0] = std::move(pty.slave);
    input_.emplace(PD_TRY(duplicate(pty.master)), streams_[0], InputStream::Kind::terminal);
    outputs_.emplace_back(std::move(pty.master), streams_[1],
                          OutputStream::Keep{ring_.get(), OutputRing::Output::standard});
    if (streams_[2] != streams_[1]) loop_.channel.end_stream(streams_[2]);
    return {};
  }
  if (streams_[0] == 0) {
    ends.streams[0] = PD_TRY(open_null());
  } else {
    sys::Pipe pipe = PD_TRY(sys::make_pipe());
    PD_TRY(sys::set_nonblocking(pipe.write));
    ends.streams[0] = std::move(pipe.read);
    input_.emplace(std::move(pipe.write), streams_[0], InputStream::Kind::pipe);
  }
  for (int i : {1, 2}) {
    if (streams_[i] == 0) {
      ends.streams[i] = PD_TRY(open_null());
    } else if (i == 2 && streams_[2] == streams_[1]) {
      ends.streams[2] = PD_TRY(duplicate(ends.streams[1]));
    } else {
      sys::Pipe pipe = PD_TRY(sys::make_pipe());
      PD_TRY(sys::set_nonblocking(pipe.read));
      ends.streams[i] = std::move(pipe.write);
      const auto output = i == 1 ? OutputRing::Output::standard : OutputRing::Output::error;
      outputs_.emplace_back(std::move(pipe.read), streams_[i],
                            OutputStream::Keep{ring_.get(), output});
    }
  }
  return {};
}

Status Command::fork_supervisor(const wire::Start& start) {
  std::unique_ptr<LaunchPlan> plan = PD_TRY(LaunchPlan::make(start, loop_.setup));
  ChildEnds ends;
  {
    // Terminals and pipes are the command's user's: programs open them again by name.
    std::optional<sys::ActingAs> acting;
    if (plan->identity()) acting.emplace(*plan->identity());
    PD_TRY(connect(start, ends));
  }
  std::move(std::begin(ends.streams), std::end(ends.streams), std::begin(plan->streams));
  plan->session = terminal_ ? SessionKind::terminal : SessionKind::process_group;
  sys::SocketPair pair = PD_TRY(sys::make_socket_pair(SOCK_SEQPACKET));
  // SAFETY: the listener's thread is not in the child and holds no lock that the child takes
  // (glibc's allocator is made fit for use in it by fork).
  const OomScore::Raised raised(loop_.oom);
  const pid_t pid = ::fork();
  if (pid < 0) return Error::from_errno(errno, "forking the command's supervisor");
  if (pid == 0) supervise(*plan, std::move(pair.second));
  supervisor_pid_ = pid;
  supervisor_ = std::move(pair.first);
  // From here and not from exec on, which may hang, too.
  if (timeout_ms_ > 0) loop_.timers.set_in_ms({TimerKind::command_timeout, id_}, timeout_ms_);
  return {};
}

Status Command::watch(uint64_t token_base) {
  auto token = [&](CommandEvent event) { return token_base + static_cast<uint64_t>(event); };
  PD_TRY(loop_.epoll.add(supervisor_, EPOLLIN, token(CommandEvent::supervisor)));
  if (input_) {
    PD_TRY(loop_.epoll.add(input_->fd(), EPOLLOUT | EPOLLET, token(CommandEvent::input)));
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const auto event = i == 0 ? CommandEvent::output : CommandEvent::error;
    PD_TRY(loop_.epoll.add(outputs_[i].fd(), EPOLLIN | EPOLLET, token(event)));
  }
  return {};
}

bool Command::owns(wire::StreamId stream) const {
  return stream != 0 && std::ranges::find(streams_, stream) != std::end(streams_);
}

OutputStream* Command::output_of(wire::StreamId stream) {
  auto found = std::ranges::find(outputs_, stream, &OutputStream::stream);
  return found == outputs_.end() ? nullptr : &*found;
}

void Command::on_event(CommandEvent which) {
  switch (which) {
    case CommandEvent::supervisor:
      read_reports();
      return;
    case CommandEvent::input:
      if (input_) input_->on_writable();
      return;
    case CommandEvent::output:
      if (!outputs_.empty()) outputs_.front().on_readable();
      return;
    case CommandEvent::error:
      if (outputs_.size() > 1) outputs_.back().on_readable();
      return;
  }
}

void Command::on_stream(const wire::StreamData& data) {
  if (input_ && data.stream == input_->stream()) input_->on_data(data.bytes);
}

void Command::on_stream(const wire::StreamEnd& end) {
  if (input_ && end.stream == input_->stream()) input_->on_end();
}

void Command::on_stream(const wire::StreamReset& reset) {
  if (OutputStream* output = output_of(reset.stream)) return output->abandon(loop_.channel);
  if (!replayed_ || reset.stream == streams_[0]) return;
  loop_.channel.close_stream(reset.stream);
  std::ranges::replace(streams_, reset.stream, 0);
}

void Command::on_host_gone() {
  attached_ = false;
  replayed_.reset();
  std::ranges::fill(streams_, 0);
  if (input_) input_->attach(0, loop_.channel);
  for (OutputStream& output : outputs_) output.detach();
  if (ring_ != nullptr) return;
  for (OutputStream& output : outputs_) output.mute();
  if (input_) input_->on_end();
}

void Command::on_timer(TimerKind kind) {
  if (tree_gone_) return;
  if (kind == TimerKind::command_timeout && !main_ended_) kill_tree(wire::Ended::TIMED_OUT);
  if (kind == TimerKind::leftover_grace) order({.kind = Order::Kind::kill_tree, .signal = SIGKILL});
  if (kind == TimerKind::kill_escalation) ::kill(supervisor_pid_, SIGKILL);
}

Status Command::signal(const wire::Signal& request) {
  // Before its start is reported, too: its output may have been heard already. The supervisor takes
  // orders behind the start.
  const bool reachable = !tree_gone_ && (!main_ended_ || request.whole_tree());
  if (!reachable) return Error::from_errno(ESRCH, "signalling the command");
  if (request.number() < 1 || request.number() > SIGRTMAX) {
    return Error::from_errno(EINVAL, "signalling the command");
  }
  const bool kill = request.whole_tree() && request.number() == SIGKILL;
  const auto kind = kill                   ? Order::Kind::kill_tree
                    : request.whole_tree() ? Order::Kind::signal_tree
                                           : Order::Kind::signal_group;
  order({.kind = kind, .signal = request.number()});
  return {};
}

Status Command::resize(const wire::Terminal& size) {
  if (!terminal_ || !input_ || !input_->fd().is_open()) {
    return Error::from_errno(ENOTTY, "resizing the command's terminal");
  }
  return sys::resize_pty(input_->fd(), {size.rows(), size.columns()});
}

bool Command::pump(size_t room) {
  if (input_) input_->pump(loop_.channel);
  if (replayed_) {
    const size_t before = loop_.channel.output().size();
    if (!replay(room)) return false;
    room -= std::min(room, loop_.channel.output().size() - before);
  }
  bool more = false;
  for (OutputStream& output : outputs_) more |= output.pump(loop_.channel, budget_, room);
  if (budget_.exceeded && !main_ended_ && !killed_for_) kill_tree(wire::Ended::OUTPUT_LIMIT);
  const bool unheard = std::ranges::all_of(outputs_, &OutputStream::has_ended);
  if (unheard && loop_.timers.is_set({TimerKind::leftover_grace, id_})) {
    loop_.timers.cancel({TimerKind::leftover_grace, id_});
    order({.kind = Order::Kind::kill_tree, .signal = SIGKILL});
  }
  return more;
}

void Command::kill_tree(wire::Ended::How why) {
  killed_for_ = why;
  order({.kind = Order::Kind::kill_tree, .signal = SIGKILL});
}

void Command::order(Order order) {
  ::kill(supervisor_pid_, SIGCONT);  // the command may have stopped it
  (void)::send(supervisor_.get(), &order, sizeof order, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (order.kind == Order::Kind::kill_tree) {
    loop_.timers.set_in_ms({TimerKind::kill_escalation, id_}, kEscalationMs);
  }
}

void Command::read_reports() {
  while (supervisor_.is_open()) {
    Report report{};
    const ssize_t n = ::recv(supervisor_.get(), &report, sizeof report, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n == sizeof report) {
      on_report(report);
      continue;
    }
    loop_.epoll.remove(supervisor_);
    supervisor_.reset();
    if (!tree_gone_) on_supervisor_lost();
  }
}

void Command::on_report(const Report& report) {
  switch (report.kind) {
    case Report::Kind::started:
      report_started(report.pid);
      return;
    case Report::Kind::failed:
      on_failure(report);
      return;
    case Report::Kind::main_ended:
      on_main_ended(report);
      return;
    case Report::Kind::tree_ended:
      ended_.set_leftovers(report.killed);
      ended_.set_user_us(report.user_us);
      ended_.set_system_us(report.system_us);
      ended_.set_max_rss_bytes(report.max_rss_bytes);
      on_tree_gone();
      return;
  }
}

void Command::report_started(pid_t pid) {
  started_ = true;
  pid_ = pid;
  if (!attached_) return;  // whoever asked has gone
  wire::ToHost answer;
  answer.set_request(request_);
  answer.mutable_started()->set_command(id_);
  answer.mutable_started()->set_pid(pid);
  (void)loop_.channel.send(answer).ok();
}

void Command::on_failure(const Report& report) {
  main_ended_ = true;
  if (report.step == LaunchStep::exec && report.pid > 0) {
    report_started(report.pid);
    ended_.set_how(report.error == ENOENT ? wire::Ended::NOT_FOUND : wire::Ended::NOT_EXECUTABLE);
    ended_.set_code(report.error);
  } else {
    failed_ = true;
    if (!attached_) return on_tree_gone();
    wire::ToHost answer;
    answer.set_request(request_);
    const Error error = Error::from_errno(report.error, describe(report.step));
    answer.mutable_failure()->set_message(printable(error.describe()));
    answer.mutable_failure()->set_error(report.error);
    (void)loop_.channel.send(answer).ok();
  }
  on_tree_gone();
}

void Command::on_main_ended(const Report& report) {
  main_ended_ = true;
  const int status = report.wait_status;
  ended_.set_how(
      killed_for_.value_or(WIFEXITED(status) ? wire::Ended::EXITED : wire::Ended::SIGNALLED));
  ended_.set_code(WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
  ended_.set_core_dumped(WIFSIGNALED(status) && WCOREDUMP(status));
  ended_.set_wall_us(report.wall_us);
  ended_.set_user_us(report.user_us);
  ended_.set_system_us(report.system_us);
  ended_.set_max_rss_bytes(report.max_rss_bytes);
  loop_.timers.cancel({TimerKind::command_timeout, id_});
  if (report.children_left == 0 || killed_for_) return;  // the tree's end follows
  if (keep_leftovers_) {
    kept_ = true;
    finish_outputs(OutputStream::AfterEnd::drop);
  } else {
    loop_.timers.set_in_ms({TimerKind::leftover_grace, id_}, kLeftoverGraceMs);
  }
}

void Command::on_tree_gone() {
  tree_gone_ = true;
  loop_.timers.cancel_all_of(id_);
  if (!kept_) finish_outputs(OutputStream::AfterEnd::close);
}

// Its reports are lost with it, so what the command did after them is told as what it must have
// been: killed.
void Command::on_supervisor_lost() {
  orphaned_ = true;
  loop_.timers.cancel_all_of(id_);
  if (main_ended_) return;
  main_ended_ = true;
  ended_.set_how(killed_for_.value_or(wire::Ended::SIGNALLED));
  ended_.set_code(SIGKILL);
  if (!started_) report_started(0);  // it may have run before its supervisor could say so
}

void Command::on_orphans_gone() {
  orphaned_ = false;
  on_tree_gone();
}

void Command::finish_outputs(OutputStream::AfterEnd after) {
  for (OutputStream& output : outputs_) output.finish(after);
}

bool Command::has_ended() const {
  return main_ended_ && (tree_gone_ || kept_) &&
         std::ranges::all_of(outputs_, &OutputStream::has_ended);
}

bool Command::is_ready_to_end() const {
  return attached_ && !end_sent_ && !replayed_ && has_ended();
}

void Command::send_end() {
  end_sent_ = true;
  input_.reset();
  if (!failed_) {
    wire::ToHost message;
    *message.mutable_ended() = ended_;
    (void)loop_.channel.send(message).ok();
  }
  for (wire::StreamId stream : streams_) loop_.channel.close_stream(stream);
}

// ---- a host that comes back

wire::CommandState Command::state() const {
  wire::CommandState state;
  state.set_command(id_);
  state.set_pid(pid_);
  state.set_note(note_);
  if (has_ended()) *state.mutable_ended() = ended_;
  state.set_first_kept(ring_->first());
  state.set_next(ring_->next());
  state.set_takes_input(!has_ended() && input_ && input_->is_open());
  state.set_terminal(terminal_);
  return state;
}

void Command::settle() {
  on_host_gone();
  input_.reset();
  if (supervisor_.is_open()) loop_.epoll.remove(supervisor_);
  supervisor_.reset();
  for (OutputStream& output : outputs_) output.close();
}

Result<wire::Attached> Command::attach(const wire::Attach& request) {
  const wire::StreamId named[] = {request.stdin_stream(), request.stdout_stream(),
                                  request.stderr_stream()};
  if (attached_ || !is_kept()) {
    for (wire::StreamId stream : named) loop_.channel.close_stream(stream);
    return Error(Code::failed_precondition, attached_ ? "a host is attached to the command already"
                                                      : "its output is not kept");
  }
  attached_ = true;
  end_sent_ = false;
  std::ranges::copy(named, streams_);
  if (input_) input_->attach(streams_[0], loop_.channel);
  if (!input_) loop_.channel.reset_stream(streams_[0]);
  replayed_ = std::clamp(request.from(), ring_->first(), ring_->next());
  wire::Attached answer;
  answer.set_first(*replayed_);
  return answer;
}

// Returns whether all of it has been sent. Meanwhile nothing is read from the command, so that
// nothing is dropped.
bool Command::replay(size_t room) {
  while (*replayed_ < ring_->next()) {
    const bool error = ring_->at(*replayed_, 1).output == OutputRing::Output::error;
    const wire::StreamId stream = streams_[error ? 2 : 1];
    const size_t most = stream == 0 ? wire::kInitialCredit : loop_.channel.sendable(stream);
    if (std::min(room, most) == 0) return false;
    const std::string_view bytes = ring_->at(*replayed_, std::min(room, most)).bytes;
    if (stream != 0) {
      loop_.channel.send_data(stream, bytes);
      room -= bytes.size();
    }
    *replayed_ += bytes.size();
  }
  finish_replay();
  return true;
}

void Command::finish_replay() {
  replayed_.reset();
  for (OutputStream& output : outputs_) {
    const bool error = output.kind() == OutputRing::Output::error;
    output.attach(streams_[error ? 2 : 1], loop_.channel);
  }
  for (wire::StreamId stream : {streams_[1], streams_[2]}) {
    if (output_of(stream) == nullptr) loop_.channel.end_stream(stream);
  }
}

}  // namespace paddock::agent
