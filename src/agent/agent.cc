#include "agent/agent.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <variant>

#include "agent/confinement.h"
#include "agent/evidence.h"
#include "agent/process_tree.h"
#include "agent/usage.h"
#include "base/strings.h"
#include "sys/machine.h"
#include "sys/pipe.h"
#include "wire/build_id.h"

namespace paddock::agent {
namespace {

// Bytes on their way to the host beyond which no more output of commands is read. Less than the
// buffer that the channel keeps, or each round would take fresh pages from the kernel.
constexpr size_t kMaxBacklog = 192u << 10;
constexpr size_t kReadAtATime = 64u << 10;
constexpr uint64_t kOrphanRoundMs = 5;
constexpr uint64_t kNobodyMs = 60'000;
// A flood of refusals is sent as a few records with counts.
constexpr uint64_t kDenialReportMs = 20;

constexpr int kSourceShift = 56;
constexpr int kCommandShift = 8;

}  // namespace

// The top byte of an event's token; below it: a command's id and CommandEvent, or which of the
// refusals' descriptors.
enum class Agent::Source : uint64_t {
  stream,
  listener,
  signals,
  timer,
  refusals,
  command,
  way_out,
  sudo,
  way_in,
};

namespace {
template <typename Source>
uint64_t token_of(Source source) {
  return static_cast<uint64_t>(source) << kSourceShift;
}
}  // namespace

Agent::Agent(Descriptors descriptors, sys::Epoll epoll, Timers timers, sys::SignalFd signals)
    : stream_(std::move(descriptors.stream)),
      listener_(std::move(descriptors.listener)),
      epoll_(std::move(epoll)),
      timers_(std::move(timers)),
      signals_(std::move(signals)),
      refusals_(epoll_, token_of(Source::refusals)),
      name_queries_(channel_, askers_),
      way_in_({epoll_, channel_, token_of(Source::way_in)}) {}

Result<std::unique_ptr<Agent>> Agent::make(Descriptors descriptors) {
  (void)::setsid();  // or the host's terminal stays ours; an error means that the session is our
                     // own
  ::signal(SIGPIPE, SIG_IGN);
  PD_TRY(sys::set_nonblocking(descriptors.stream));
  if (descriptors.listener.is_open()) PD_TRY(sys::set_nonblocking(descriptors.listener));
  std::unique_ptr<Agent> agent(new Agent(std::move(descriptors), PD_TRY(sys::Epoll::open()),
                                         PD_TRY(Timers::open()),
                                         PD_TRY(sys::SignalFd::open({SIGCHLD}))));
  PD_TRY(agent->say_hello());
  PD_TRY(agent->watch_own_descriptors());
  return agent;
}

Status Agent::say_hello() {
  wire::ToHost hello;
  hello.mutable_hello()->set_protocol(wire::kProtocolVersion);
  hello.mutable_hello()->set_build_id(std::string(wire::build_id()));
  hello.mutable_hello()->set_protocol_id(std::string(wire::protocol_id()));
  PD_TRY(channel_.send(hello));
  return write_stream();
}

Status Agent::watch_own_descriptors() {
  PD_TRY(watch_stream());
  if (listener_.is_open()) PD_TRY(epoll_.add(listener_, EPOLLIN, token_of(Source::listener)));
  PD_TRY(epoll_.add(signals_.descriptor(), EPOLLIN, token_of(Source::signals)));
  return epoll_.add(timers_.fd(), EPOLLIN, token_of(Source::timer));
}

Status Agent::watch_stream() {
  return epoll_.add(stream_, EPOLLIN, token_of(Source::stream));
}

Status Agent::run() {
  std::array<epoll_event, 64> events;
  bool more = false;
  while (!stopping_) {
    for (const epoll_event& event : PD_TRY(epoll_.wait(events, more ? 0 : -1))) {
      on_event(event.data.u64, event.events);
    }
    Status taken = take_stream_events();
    if (!taken.ok()) {
      (void)write_stream();
      if (!adopted_) return taken;
      lose_host();
    }
    more = pump();
    end_commands();
    if (stream_.is_open() && refusals_.has_news() && !timers_.is_set({TimerKind::denial_report})) {
      timers_.set_in_ms({TimerKind::denial_report}, kDenialReportMs);
    }
    if (!write_stream().ok()) on_stream_lost();
  }
  return {};
}

void Agent::on_event(uint64_t token, uint32_t events) {
  const auto rest = static_cast<uint32_t>(token);
  switch (static_cast<Source>(token >> kSourceShift)) {
    case Source::stream:
      if ((events & ~EPOLLOUT) != 0 && !read_stream().ok()) on_stream_lost();
      return;
    case Source::listener:
      take_in_host();
      return;
    case Source::signals:
      reap();
      return;
    case Source::timer:
      for (Timers::Key key : timers_.take_due()) on_timer(key);
      return;
    case Source::refusals:
      refusals_.on_event(rest);
      return;
    case Source::way_out:
      if (way_out_) way_out_->on_event(rest);
      return;
    case Source::sudo:
      if (sudo_) sudo_->on_ready(oom_);
      return;
    case Source::way_in:
      way_in_.on_event(rest);
      return;
    case Source::command:
      if (Command* command = find(static_cast<uint32_t>(token >> kCommandShift))) {
        command->on_event(static_cast<CommandEvent>(token & ((1u << kCommandShift) - 1)));
      }
      return;
  }
}

void Agent::on_timer(Timers::Key key) {
  switch (key.kind) {
    case TimerKind::sandbox_deadline:
      stopping_ = true;
      return;
    case TimerKind::orphan_round:
      kill_orphans();
      return;
    case TimerKind::denial_report:
      report_denials();
      return;
    case TimerKind::command_timeout:
    case TimerKind::leftover_grace:
    case TimerKind::kill_escalation:
      if (Command* command = find(key.command)) command->on_timer(key.kind);
      return;
  }
}

// ---- the host's stream

Status Agent::read_stream() {
  static std::array<char, kReadAtATime> buffer;
  if (!stream_.is_open()) return {};
  const ssize_t n = ::read(stream_.get(), buffer.data(), buffer.size());
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  if (n < 0) return Error::from_errno(errno, "reading from the host");
  if (n == 0) return Error(Code::unavailable, "the host has closed the stream");
  return channel_.receive({buffer.data(), static_cast<size_t>(n)});
}

Status Agent::write_stream() {
  if (!stream_.is_open()) channel_.written(channel_.output().size());
  while (!channel_.output().empty()) {
    const ssize_t n = ::write(stream_.get(), channel_.output().data(), channel_.output().size());
    if (n > 0) {
      channel_.written(static_cast<size_t>(n));
    } else if (n == 0 || errno == EAGAIN) {
      if (!std::exchange(stream_is_full_, true)) {
        return epoll_.modify(stream_, EPOLLIN | EPOLLOUT, token_of(Source::stream));
      }
      return {};
    } else if (errno != EINTR) {
      return Error::from_errno(errno, "writing to the host");
    }
  }
  if (std::exchange(stream_is_full_, false)) {
    return epoll_.modify(stream_, EPOLLIN, token_of(Source::stream));
  }
  return {};
}

// An adopted agent goes on until its deadline.
void Agent::on_stream_lost() {
  if (!stream_.is_open()) return;
  lose_host();
  if (!adopted_) stopping_ = true;
  // Held still it waits for whoever lets it go on. Let go on by one who has gone since, it has no
  // deadline any more.
  const bool has_end = timers_.is_set({TimerKind::sandbox_deadline}) || stand_still_.is_on();
  if (!has_end) set_deadline(kNobodyMs);
}

Status Agent::take_stream_events() {
  while (auto event = channel_.next_event()) {
    if (auto* message = std::get_if<wire::ToAgent>(&*event)) {
      PD_TRY(on_message(*message));
      continue;
    }
    if (auto* data = std::get_if<wire::StreamData>(&*event)) pass_on(*data);
    if (auto* end = std::get_if<wire::StreamEnd>(&*event)) pass_on(*end);
    if (auto* reset = std::get_if<wire::StreamReset>(&*event)) pass_on(*reset);
    if (auto* abort = std::get_if<wire::StreamAbort>(&*event)) pass_on(*abort);
    if (auto* credit = std::get_if<wire::CreditGained>(&*event)) pass_on(*credit);
  }
  return {};
}

// Commands ask for their credit when they are pumped, and their streams are never aborted.
template <typename About>
void Agent::pass_on(const About& about) {
  if (way_out_ && way_out_->owns(about.stream)) return way_out_->on_stream(about);
  if (way_in_.owns(about.stream)) return way_in_.on_stream(about);
  if constexpr (requires(Command & command) { command.on_stream(about); }) {
    for (auto& [id, command] : commands_) {
      if (command->owns(about.stream)) command->on_stream(about);
    }
  }
}

// ---- requests

Status Agent::on_message(const wire::ToAgent& message) {
  const bool is_setup = message.body_case() == wire::ToAgent::kSetup;
  if (is_setup == set_up_) {
    const Error error(Code::failed_precondition,
                      is_setup ? "the sandbox is set up already" : "Setup must come first");
    answer(message.request(), error);
    return error;
  }
  const uint64_t request = message.request();
  if (must_resume_ != (message.body_case() == wire::ToAgent::kResume)) {
    const Error error(Code::failed_precondition, "Resume comes first on a new stream, and once");
    answer(request, error);
    return error;
  }
  switch (message.body_case()) {
    case wire::ToAgent::kSetup:
      return on_setup(message);
    case wire::ToAgent::kAdopt:
      answer(request, on_adopt());
      return {};
    case wire::ToAgent::kResume:
      return on_resume(message);
    case wire::ToAgent::kAttach:
      on_attach(message);
      return {};
    case wire::ToAgent::kForget:
      (void)ended_.take(message.forget().command());
      return {};
    case wire::ToAgent::kStart:
      on_start(message);
      return {};
    case wire::ToAgent::kSignal: {
      Command* command = find(message.signal().command());
      answer(request, command != nullptr
                          ? command->signal(message.signal())
                          : Status(Error::from_errno(ESRCH, "signalling the command")));
      return {};
    }
    case wire::ToAgent::kResize: {
      Command* command = find(message.resize().command());
      answer(request, command != nullptr
                          ? command->resize(message.resize().terminal())
                          : Status(Error::from_errno(ESRCH, "resizing the command's terminal")));
      return {};
    }
    case wire::ToAgent::kDeadline:
      set_deadline(message.deadline().deadline_ms());
      answer(request, {});
      return {};
    case wire::ToAgent::kHold:
      answer(request, hold(message.hold().what()));
      return {};
    case wire::ToAgent::kUsageQuery:
      answer_usage(request);
      return {};
    case wire::ToAgent::kStop:
      stopping_ = true;
      return {};
    case wire::ToAgent::kNameAnswer:
      if (refusals_.names() != nullptr) refusals_.names()->on_answer(message.name_answer());
      return {};
    case wire::ToAgent::kConnectAnswer:
      if (way_out_) {
        way_out_->on_answer(message.connect_answer());
      } else {
        channel_.close_stream(message.connect_answer().stream());
      }
      return {};
    case wire::ToAgent::kForward:
      way_in_.connect(request, message.forward());
      return {};
    case wire::ToAgent::BODY_NOT_SET:
      break;
  }
  return {};
}

// Whatever goes wrong here leaves a sandbox that is not what the host decided: say so and end.
Status Agent::on_setup(const wire::ToAgent& message) {
  wire::ToHost reply;
  reply.set_request(message.request());
  Status prepared = prepare(message.setup(), *reply.mutable_evidence());
  if (!prepared.ok()) {
    answer(message.request(), prepared);
    return prepared;
  }
  set_up_ = true;
  return channel_.send(reply);
}

Status Agent::prepare(const wire::Setup& setup, wire::Evidence& evidence) {
  if (setup.build_id() != wire::build_id()) {
    return Error(Code::failed_precondition, "paddock and paddock-agent are of different builds")
        .set_remedy("install both from the same build");
  }
  bound_ = setup.bound();
  setup_ = setup;
  setup_.clear_seccomp_filter();  // only what commands need is kept
  refusals_.set_limit(setup.denial_limit());
  set_deadline(setup.deadline_ms());
  if (!setup.entropy().empty()) PD_TRY(sys::add_entropy(setup.entropy()));
  if (setup.wall_clock_ns() != 0) {
    PD_TRY(sys::set_wall_clock(static_cast<int64_t>(setup.wall_clock_ns())));
  }
  wire::Evidence network;
  if (setup.network_table()) refusals_.prepare_network(setup.egress(), network);
  const bool lets_out = setup.has_egress() && network.network_table();
  if (lets_out || setup.sockets() > 0) prepare_way_out();
  if (lets_out) {
    Status opened = way_out_->open(setup.egress().form());
    if (opened.ok()) refusals_.names()->ask_through(name_queries_);
    network.set_egress(opened.ok());
    if (!opened.ok()) network.set_network_error(opened.error().describe());
  }
  if (setup.sockets() > 0) {
    PD_TRY_CTX("listening for the host's sockets", way_out_->open_sockets(setup.sockets()));
    network.set_sockets(setup.sockets());
  }
  sys::Fd listener = PD_TRY_CTX("confining the agent", confine(setup));
  if (listener.is_open()) PD_TRY(refusals_.watch_syscalls(std::move(listener), setup));
  if (setup.has_sudo()) PD_TRY_CTX("serving sudo", serve_sudo());
  evidence = PD_TRY_CTX("gathering evidence", gather_evidence(setup));
  evidence.MergeFrom(network);
  return {};
}

Status Agent::serve_sudo() {
  sudo_.emplace(PD_TRY(sudo::Service::open(setup_)));
  return epoll_.add(sudo_->listener(), EPOLLIN, token_of(Source::sudo));
}

void Agent::prepare_way_out() {
  sys::allow_most_descriptors();  // commands get the limit that their Start names
  askers_.open();
  if (setup_.user_capabilities() != 0) askers_.look_as({setup_.uid(), setup_.gid(), {}});
  way_out_.emplace(WayOut::Loop{.epoll = epoll_,
                                .channel = channel_,
                                .log = refusals_.log(),
                                .askers = askers_,
                                .token = token_of(Source::way_out)});
}

void Agent::on_start(const wire::ToAgent& message) {
  const uint32_t id = message.start().command();
  const bool in_use = id == 0 || commands_.contains(id) || ended_.has(id);
  if (in_use || message.start().note().size() > wire::kMaxNote) {
    answer(message.request(),
           Error(Code::invalid_argument, in_use ? "the command's number is in use"
                                                : "the note on the command is too long"));
    for (wire::StreamId stream : {message.start().stdin_stream(), message.start().stdout_stream(),
                                  message.start().stderr_stream()}) {
      channel_.close_stream(stream);
    }
    return;
  }
  const Loop loop{.channel = channel_,
                  .epoll = epoll_,
                  .timers = timers_,
                  .oom = oom_,
                  .kept_output = kept_output_,
                  .setup = setup_};
  auto command = Command::start(
      message, loop, token_of(Source::command) | static_cast<uint64_t>(id) << kCommandShift);
  last_command_ = std::max(last_command_, id);
  if (command.ok()) {
    commands_.emplace(id, std::move(*command));
  } else {
    answer(message.request(), std::move(command).error());
  }
}

void Agent::answer(uint64_t request, const Status& status) {
  wire::ToHost reply;
  reply.set_request(request);
  if (status.ok()) {
    reply.mutable_done();
  } else {
    std::string text = status.error().describe();
    if (!status.error().remedy().empty()) text += "; " + status.error().remedy();
    reply.mutable_failure()->set_message(printable(text));  // paths in it may be any bytes
    reply.mutable_failure()->set_error(status.error().errno_value());
  }
  (void)channel_.send(reply).ok();
}

void Agent::answer_usage(uint64_t request) {
  wire::ToHost reply;
  reply.set_request(request);
  *reply.mutable_usage() = measure_usage([&](pid_t pid) { return is_supervisor(pid); });
  (void)channel_.send(reply).ok();
}

Status Agent::hold(wire::Hold::What what) {
  if (what == wire::Hold::STOP) return stand_still_.stop();
  stand_still_.go_on();
  return {};
}

void Agent::set_deadline(uint64_t ms) {
  if (ms == 0) {
    timers_.cancel({TimerKind::sandbox_deadline});
  } else {
    timers_.set_in_ms({TimerKind::sandbox_deadline}, ms);
  }
}

// ---- processes and commands

Command* Agent::find(uint32_t id) {
  auto found = commands_.find(id);
  return found == commands_.end() ? nullptr : found->second.get();
}

// Ours are the supervisors, which report by themselves, and the orphans of those that were killed.
void Agent::reap() {
  while (signals_.take()) {
  }
  while (true) {
    const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
    if (pid <= 0) return;
    if (sudo_) sudo_->on_reaped(pid);
    for (auto& [id, command] : commands_) {
      if (command->supervisor() == pid) command->on_supervisor_reaped();
    }
  }
}

bool Agent::pump() {
  auto room = [&] { return kMaxBacklog - std::min(channel_.output().size(), kMaxBacklog); };
  bool more = way_out_ && way_out_->pump(room());
  more |= way_in_.pump(room());
  for (auto& [id, command] : commands_) {
    more |= command->pump(room());
    if (command->is_orphaned() && !timers_.is_set({TimerKind::orphan_round})) {
      timers_.set_in_ms({TimerKind::orphan_round}, 0);
    }
  }
  return more && room() > 0;
}

void Agent::end_commands() {
  for (auto it = commands_.begin(); it != commands_.end();) {
    Command& command = *it->second;
    if (command.is_ready_to_end()) {
      refusals_.drain();  // what the command was refused comes before its end
      report_denials();
      command.send_end();
    }
    if (!command.is_over()) {
      ++it;
      continue;
    }
    command.settle();
    if (command.is_kept()) ended_.add(it->first, std::move(it->second));
    it = commands_.erase(it);
  }
}

// Processes whose supervisor was killed are children of ours, and nobody else's are: kill all below
// us that has no living supervisor above it, until there is none.
void Agent::kill_orphans() {
  bool found = false;
  const auto processes = list_processes();
  for (const ProcessInfo& process : processes) {
    if (process.parent != ::getpid() || process.state == 'Z' || is_supervisor(process.pid))
      continue;
    found = true;
    for (pid_t pid : descendants_of(process.pid, processes)) ::kill(pid, SIGKILL);
    ::kill(process.pid, SIGKILL);
  }
  for (auto& [id, command] : commands_) {
    if (!command->is_orphaned()) continue;
    if (!found && command->are_orphans_adopted()) {
      command->on_orphans_gone();
    } else {
      timers_.set_in_ms({TimerKind::orphan_round}, kOrphanRoundMs);
    }
  }
}

bool Agent::is_supervisor(pid_t pid) const {
  if (sudo_ && sudo_->owns(pid)) return true;
  return std::ranges::any_of(commands_,
                             [&](const auto& entry) { return entry.second->supervisor() == pid; });
}

void Agent::report_denials() {
  timers_.cancel({TimerKind::denial_report});
  if (!stream_.is_open()) return;  // kept for the next host
  // With a host that does not read, counts grow instead of messages.
  if (channel_.output().size() < kMaxBacklog) refusals_.report(channel_);
}

}  // namespace paddock::agent
