#include "engine/live/live_sandbox.h"

#include <algorithm>
#include <utility>

#include "engine/agent_setup.h"
#include "engine/live/directory_watch.h"
#include "engine/live/process_note.h"
#include "sys/clock.h"
#include "sys/fault_point.h"

namespace paddock::engine {
namespace {

// How long the end of a command can still be asked for.
constexpr int64_t kKeepEndedMs = 30'000;
constexpr size_t kMaxProcesses = 4096;
constexpr int64_t kServiceStartMs = 60'000;

void name_user(const GuestUser& user, wire::Start& start,
               std::map<std::string, std::string>& environment) {
  start.mutable_user()->set_uid(user.uid);
  start.mutable_user()->set_gid(user.gid);
  for (uint32_t group : user.groups) start.mutable_user()->add_groups(group);
  start.set_directory(user.home);
  for (const auto& [name, value] :
       {std::pair{"HOME", user.home}, std::pair{"USER", user.name}, std::pair{"LOGNAME", user.name},
        std::pair{"SHELL", user.shell}}) {
    environment.emplace(name, value);
  }
}

}  // namespace

LiveSandbox::LiveSandbox(net::Loop& loop, LiveInfo info, LiveSetup setup, LiveParts parts,
                         OnEnd on_end)
    : loop_(loop),
      info_(std::move(info)),
      setup_(std::move(setup)),
      parts_(std::move(parts)),
      on_end_(std::move(on_end)),
      watches_(std::make_unique<KeptWatches>()),
      changes_(loop),
      gone_(loop) {
  if (setup_.ports_are_guarded) network_.traffic = NetworkRequest::Traffic::with_token;
  network_.host_mask = setup_.host_mask;
  if (setup_.workspace) info_.view = setup_.workspace->view;
}

LiveSandbox::~LiveSandbox() = default;

void LiveSandbox::begin() {
  open_session();
  become(SandboxState::running);
  log_runs();
  arm();
}

void LiveSandbox::log_runs() {
  log_.add({.message = "the sandbox runs", .fields = {{"template", info_.template_name}}});
}

void LiveSandbox::open_session() {
  AgentSession::Listener listener;
  listener.on_message = [this](wire::ToHost message) { on_message(std::move(message)); };
  listener.on_dead = [this](const Error& why) {
    for (auto& [number, entry] : processes_) entry.process->on_sandbox_gone();
    if (on_end_) on_end_(*this, "it ended by itself: " + why.describe());
  };
  if (parts_.link) {
    session_ = std::make_shared<AgentSession>(loop_, std::move(parts_.link),
                                              std::move(parts_.waiting), std::move(listener));
    if (parts_.bridge) session_->carry(std::move(parts_.bridge));
    session_->start();
  }
}

void LiveSandbox::take_over(net::Task& task, const Resumed& resumed) {
  log_.add({.message = "another daemon took the sandbox over", .fields = {}});
  if (is_asleep()) return;
  open_session();
  if (info_.state != SandboxState::paused) become(SandboxState::running);
  attach(task, resumed);
  if (!is_alive()) return;
  // It was let go on so that its agent could answer; or the daemon ended within a pause.
  Status done;
  if (!is_running()) {
    done = stop_everything(task);
  } else {
    arm();
    if (session_) done = hold(task, wire::Hold::GO_ON);
    if (session_ && done.ok()) done = tell_deadline(task, info_.deadline_ms);
  }
  if (!done.ok() && is_alive() && on_end_) {
    on_end_(*this, "it could not be taken over: " + done.error().describe());
  }
}

// What cannot be attached to is as one that has ended long ago: not there.
void LiveSandbox::attach(net::Task& task, const Resumed& resumed) {
  last_number_ = resumed.last_command;
  for (const wire::CommandState& state : resumed.commands) {
    auto request = request_of(state.note());
    if (!session_ || !request.ok()) continue;
    auto process = std::make_shared<Process>(loop_, session_, std::move(*request));
    processes_.emplace(state.command(), Entry{process, false, true});
    if (!process->attach(task, state).ok()) processes_.erase(state.command());
  }
}

void LiveSandbox::hand_over(LiveInfo info, NetworkRequest request) {
  info.layer = std::move(info_.layer);
  info.state = info_.state;
  info_ = std::move(info);
  for (const auto& [name, value] : info_.environment) setup_.environment[name] = value;
  setup_.ports_are_guarded = request.traffic == NetworkRequest::Traffic::with_token;
  setup_.host_mask = request.host_mask;
  network_ = std::move(request);
  log_ = SandboxLog();
  log_runs();
}

Status LiveSandbox::outlive(net::Task& task) {
  PD_TRY(check_running());
  wire::ToAgent message;
  message.mutable_adopt();
  (void)PD_TRY(session_->call(task, std::move(message)));
  return {};
}

void LiveSandbox::note_closed(const Error& reason) {
  log_.add({.level = LogEntry::Level::warn,
            .message = "nothing leaves the sandbox any more",
            .fields = {{"reason", reason.describe()}}});
}

void LiveSandbox::let_go(net::Task& task) {
  on_end_ = nullptr;
  on_time_up_ = nullptr;
  deadline_.reset();
  if (session_) session_->close();
  for (auto& [number, entry] : processes_) entry.process->on_sandbox_gone();
  processes_.clear();
  parts_.worker.run(task, [this] {
    if (parts_.sandbox) parts_.sandbox->let_go();
    parts_.sandbox.reset();
    parts_.backend.reset();
    parts_.network.reset();  // waits for the gate to let go
    return true;
  });
}

Status LiveSandbox::check_running() const {
  if (!is_running()) return Error(Code::unavailable, "the sandbox is not running");
  if (session_) return {};
  return Error(Code::unavailable,
               "the sandbox was started by another build of paddock, whose protocol this one does "
               "not speak")
      .set_remedy("kill it, or let the paddock that started it serve until its time is up");
}

bool LiveSandbox::is_alive() const {
  using enum SandboxState;
  return info_.state != creating && info_.state != stopping && info_.state != gone;
}

void LiveSandbox::become(SandboxState state) {
  if (may_follow(info_.state, state)) info_.state = state;
}

void LiveSandbox::on_message(wire::ToHost message) {
  if (message.has_denied()) {
    const model::Denial* fresh = denials_.add(message.denied());
    if (fresh != nullptr && observer_ != nullptr) observer_->on_denied(info_, *fresh);
    log_.add(refusal_entry(message.denied()));
  }
  if (!message.has_ended()) return;
  auto found = processes_.find(message.ended().command());
  if (found == processes_.end()) return;
  if (!found->second.hidden) {
    log_start(found->second);
    log_.add(end_entry(*found->second.process, message.ended()));
  }
  of_commands_.user_us += message.ended().user_us();
  of_commands_.system_us += message.ended().system_us();
  found->second.process->on_ended(message.ended());
  if (observer_ != nullptr && !found->second.hidden) {
    observer_->on_command_ended(info_, sys::monotonic_us() - found->second.began_us);
  }
  if (found->second.hidden) processes_.erase(found);
  forget_old_processes();
}

void LiveSandbox::set_user(GuestUser user) {
  setup_.home = user.home;
  setup_.user = std::move(user);
  setup_.is_user_named = true;
}

void LiveSandbox::log_start(Entry& entry) {
  if (!std::exchange(entry.is_start_logged, true)) log_.add(start_entry(*entry.process));
}

// ---- commands

Result<LiveSandbox::Started> LiveSandbox::start(net::Task& task, ProcessRequest request) {
  return start_process(task, std::move(request), false);
}

Result<LiveSandbox::Started> LiveSandbox::start_hidden(net::Task& task, ProcessRequest request) {
  return start_process(task, std::move(request), true);
}

Result<LiveSandbox::Started> LiveSandbox::start_process(net::Task& task, ProcessRequest request,
                                                        bool hidden) {
  PD_TRY(check_running());
  forget_old_processes();
  if (processes_.size() >= kMaxProcesses) {
    return Error(Code::resource_exhausted, "too many commands in one sandbox")
        .set_remedy("wait for some to end");
  }
  wire::Start start = setup_.start;
  std::map<std::string, std::string> environment = request.environment;
  start.set_directory(setup_.home);
  if (request.user) {
    name_user(*request.user, start, environment);
  } else if (setup_.is_user_named) {
    name_user(setup_.user, start, environment);
  }
  environment.insert(setup_.environment.begin(), setup_.environment.end());
  for (const auto& [name, value] : environment) start.add_environment(name + "=" + value);
  if (!hidden) keep(start, request);
  Started started;
  started.process = std::make_shared<Process>(loop_, session_, std::move(request));
  started.reader = std::make_unique<Process::Reader>(started.process);
  const uint32_t number = ++last_number_;
  processes_.emplace(number, Entry{started.process, hidden, false, sys::monotonic_us()});
  sys::fault_point("live.exec.asked");
  Status done = started.process->start(task, std::move(start), number);
  sys::fault_point("live.exec.started");
  if (!done.ok()) {
    processes_.erase(number);
    return std::move(done).error();
  }
  if (auto entry = processes_.find(number); !hidden && entry != processes_.end()) {
    log_start(entry->second);
  }
  if (observer_ != nullptr && !hidden) observer_->on_command_started(info_);
  return started;
}

// For the daemon after this one.
void LiveSandbox::keep(wire::Start& start, const ProcessRequest& request) const {
  if (setup_.lifetime != isolation::Lifetime::leased) return;
  start.set_keep_output(Process::kKeptOutput);
  start.set_note(note_of(request));
}

Status LiveSandbox::start_service(net::Task& task, ProcessRequest request, uint16_t port) {
  Started started = PD_TRY(start_hidden(task, std::move(request)));
  service_ = Service{std::move(started.process), port, sys::wall_clock_ms()};
  return {};
}

bool LiveSandbox::is_starting(uint16_t port) const {
  return service_ && service_->port == port && !service_->process->has_ended() &&
         sys::wall_clock_ms() - service_->started_ms < kServiceStartMs;
}

std::shared_ptr<Process> LiveSandbox::find_process(int pid) {
  std::shared_ptr<Process> best;
  for (auto& [number, entry] : processes_) {
    if (entry.hidden || entry.process->pid() != pid) continue;
    // Numbers are used again: the one that runs, else the last one.
    if (!best || best->has_ended()) best = entry.process;
  }
  return best;
}

std::shared_ptr<Process> LiveSandbox::find_process(const std::string& tag) {
  std::shared_ptr<Process> best;
  for (auto& [number, entry] : processes_) {
    if (entry.hidden || tag.empty() || entry.process->request().tag != tag) continue;
    if (!best || best->has_ended()) best = entry.process;
  }
  return best;
}

std::shared_ptr<Process> LiveSandbox::main_process() {
  const auto found = processes_.find(info_.main_command);
  return found == processes_.end() ? nullptr : found->second.process;
}

void LiveSandbox::note_outcome(model::Outcome outcome) {
  if (!outcome_) outcome_ = std::move(outcome);
}

std::vector<std::shared_ptr<Process>> LiveSandbox::processes() {
  std::vector<std::shared_ptr<Process>> out;
  for (auto& [number, entry] : processes_) {
    if (!entry.hidden && entry.process->pid() != 0) out.push_back(entry.process);
  }
  return out;
}

void LiveSandbox::forget_old_processes() {
  const int64_t now = sys::wall_clock_ms();
  std::erase_if(processes_, [&](const auto& item) {
    const Process& process = *item.second.process;
    if (!process.has_ended() || now - process.ended_ms() <= kKeepEndedMs) return false;
    if (item.first == info_.main_command) return false;
    if (session_ && !item.second.hidden && setup_.lifetime == isolation::Lifetime::leased) {
      wire::ToAgent message;
      message.mutable_forget()->set_command(item.first);
      session_->tell(std::move(message));
    }
    return true;
  });
}

// ---- time

void LiveSandbox::arm() {
  const int64_t left = std::max<int64_t>(info_.deadline_ms - sys::wall_clock_ms(), 0);
  deadline_ = std::make_unique<net::Deadline>(loop_, std::chrono::milliseconds(left), [this] {
    if (on_time_up_) return on_time_up_(*this);
    if (on_end_) on_end_(*this, "its time was up");
  });
}

Status LiveSandbox::set_deadline(net::Task& task, int64_t deadline_ms) {
  PD_TRY(check_running());
  info_.deadline_ms = deadline_ms;
  arm();
  return tell_deadline(task, deadline_ms);
}

Status LiveSandbox::tell_deadline(net::Task& task, std::optional<int64_t> deadline_ms) {
  wire::ToAgent message;
  uint64_t left_ms = 0;  // none
  if (deadline_ms) {
    const int64_t left = std::max<int64_t>(*deadline_ms - sys::wall_clock_ms(), 1);
    left_ms = static_cast<uint64_t>(left) + kAgentSlackMs;
  }
  message.mutable_deadline()->set_deadline_ms(left_ms);
  (void)PD_TRY(session_->call(task, std::move(message)));
  return {};
}

Result<LiveUsage> LiveSandbox::usage(net::Task& task) {
  PD_TRY(check_running());
  LiveUsage usage;
  usage.total = total_usage(task);
  wire::ToAgent message;
  message.mutable_usage_query();
  const wire::ToHost answer = PD_TRY(session_->call(task, std::move(message)));
  usage.processes = answer.usage().processes();
  return usage;
}

model::Usage LiveSandbox::total_usage(net::Task& task) {
  return parts_.worker.run(task, [this] { return usage_so_far(); });
}

// ---- network

Result<std::unique_ptr<PortStream>> LiveSandbox::connect(net::Task& task, uint16_t port) {
  if (!is_running()) return Error(Code::unavailable, "the sandbox is not running");
  return PortStream::open(task, session_, port);
}

Status LiveSandbox::set_network(net::Task& task, NetworkRequest request) {
  if (!is_running()) return Error(Code::unavailable, "the sandbox is not running");
  if (parts_.network) {
    // Rules are compiled away from the loop: a client's list may be long.
    PD_TRY(parts_.worker.run(task, [&] { return parts_.network->update(request); }));
  } else if (!request.must_reach.empty()) {
    return Error(Code::failed_precondition, "nothing leaves this sandbox")
        .set_remedy("make another one once the server's policy lets something out");
  }
  network_ = std::move(request);
  return {};
}

std::vector<model::Denial> LiveSandbox::denials() const {
  Denials all = denials_;
  if (parts_.network) {
    const Denials refused = parts_.network->denials();
    for (const model::Denial& denial : refused.records()) all.add(denial);
  }
  return all.take_records();
}

// ---- end

// Since it was made, on the worker's thread.
model::Usage LiveSandbox::usage_so_far() {
  model::Usage usage = parts_.sandbox ? parts_.sandbox->usage() : model::Usage();
  usage.user_us += earlier_usage_.user_us;
  usage.system_us += earlier_usage_.system_us;
  usage.peak_memory_bytes = std::max(usage.peak_memory_bytes, earlier_usage_.peak_memory_bytes);
  return usage;
}

// Nothing of it runs or leaves any more. On the worker's thread.
Status LiveSandbox::put_down() {
  Status destroyed = parts_.sandbox ? parts_.sandbox->destroy() : Status();
  if (destroyed.ok()) {
    parts_.sandbox.reset();
    parts_.backend.reset();
  }
  parts_.network.reset();  // waits for the gate to let go
  return destroyed;
}

Status LiveSandbox::kill(net::Task& task, std::string reason) {
  if (info_.state == SandboxState::stopping || info_.state == SandboxState::gone) {
    gone_.wait_surely(task);
    return destroyed_;
  }
  become(SandboxState::stopping);
  info_.reason = std::move(reason);
  on_end_ = nullptr;
  on_time_up_ = nullptr;
  deadline_.reset();
  if (session_) session_->close();
  for (auto& [number, entry] : processes_) entry.process->on_sandbox_gone();
  processes_.clear();
  destroyed_ = parts_.worker.run(task, [this] {
    final_usage_ = usage_so_far();
    // Where no cgroup counts it is what its commands were seen to use.
    if (final_usage_.user_us + final_usage_.system_us == 0) {
      final_usage_.user_us = of_commands_.user_us;
      final_usage_.system_us = of_commands_.system_us;
    }
    return put_down();
  });
  become(SandboxState::gone);
  gone_.set();
  return destroyed_;
}

}  // namespace paddock::engine
