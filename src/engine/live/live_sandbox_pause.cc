// The part of a live sandbox's life in which it stands still.
#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/live/live_sandbox.h"
#include "sys/clock.h"

namespace paddock::engine {

namespace {

// What a command that has just ended leaves is still on its way out.
constexpr int kLeavingRounds = 20;
constexpr std::chrono::milliseconds kLeavingRound{10};

}  // namespace

Status LiveSandbox::pause(net::Task& task) {
  PD_TRY(stand_still(task));
  settle(Keep::memory);
  return {};
}

void LiveSandbox::settle(Keep kept) {
  info_.kept = kept;
  become(SandboxState::paused);
}

Status LiveSandbox::stand_still(net::Task& task) {
  if (!is_running()) return Error(Code::failed_precondition, "the sandbox is not running");
  PD_TRY(check_running());
  become(SandboxState::pausing);
  deadline_.reset();
  Status paused = stop_everything(task);
  if (info_.state != SandboxState::pausing)
    return Error(Code::unavailable, "it was ended meanwhile");
  if (!paused.ok()) {
    become(SandboxState::running);
    (void)tell_deadline(task, info_.deadline_ms).ok();
    arm();
    return paused;
  }
  return {};
}

Result<bool> LiveSandbox::is_idle(net::Task& task) {
  auto runs = [](const auto& item) { return !item.second.process->has_ended(); };
  for (int round = 0;; ++round) {
    if (std::ranges::any_of(processes_, runs)) return false;
    const LiveUsage now = PD_TRY(usage(task));
    if (now.processes == 0 || round == kLeavingRounds) {
      return now.processes == 0 && std::ranges::none_of(processes_, runs);
    }
    task.sleep(kLeavingRound);
  }
}

Status LiveSandbox::lie_down(net::Task& task) {
  if (!is_running() && info_.state != SandboxState::paused) {
    return Error(Code::failed_precondition, "the sandbox is not running");
  }
  become(info_.state == SandboxState::paused ? SandboxState::resuming : SandboxState::pausing);
  deadline_.reset();
  if (session_) session_->close();
  std::erase_if(processes_, [](const auto& item) {
    if (item.second.process->has_ended()) return false;  // whose end can still be asked for
    item.second.process->on_sandbox_gone();
    return true;
  });
  const std::vector<model::Denial> refused = denials();
  Status destroyed = parts_.worker.run(task, [this] {
    earlier_usage_ = usage_so_far();
    return put_down();
  });
  denials_ = {};
  for (const model::Denial& denial : refused) denials_.add(denial);
  service_.reset();
  info_.main_command = 0;
  if (!is_alive()) return Error(Code::unavailable, "it was ended meanwhile");
  if (!destroyed.ok() && on_end_) {
    on_end_(*this, "it could not be stopped: " + destroyed.error().describe());
  }
  return destroyed;
}

LiveSandbox::Taken LiveSandbox::stand_up(LiveSetup& setup, LiveParts& parts, int64_t deadline_ms) {
  if (info_.state != SandboxState::resuming) return Taken::no;
  parts_.backend = std::move(parts.backend);
  parts_.sandbox = std::move(parts.sandbox);
  parts_.link = std::move(parts.link);
  parts_.waiting = std::move(parts.waiting);
  parts_.network = std::move(parts.network);
  parts_.bridge = std::move(parts.bridge);
  setup_ = std::move(setup);
  if (setup_.workspace) info_.view = setup_.workspace->view;
  info_.deadline_ms = deadline_ms;
  begin();
  return Taken::yes;
}

// The agent's own clock does not stop while it is stopped: without a deadline until it goes on.
Status LiveSandbox::stop_everything(net::Task& task) {
  if (session_) PD_TRY(tell_deadline(task, std::nullopt));
  return hold(task, wire::Hold::STOP);
}

// From outside where a cgroup can, else by the agent.
Status LiveSandbox::hold(net::Task& task, wire::Hold::What what) {
  if (setup_.stopped_by == LiveSetup::StoppedBy::isolation) {
    return parts_.worker.run(task, [&] {
      return what == wire::Hold::STOP ? parts_.sandbox->freeze() : parts_.sandbox->thaw();
    });
  }
  if (!session_) return Error(Code::unavailable, "nobody here speaks with its agent");
  wire::ToAgent message;
  message.mutable_hold()->set_what(what);
  (void)PD_TRY(session_->call(task, std::move(message)));
  return {};
}

Status LiveSandbox::resume(net::Task& task, int64_t deadline_ms) {
  if (is_running()) return {};  // somebody else was first
  if (info_.state != SandboxState::paused && info_.state != SandboxState::pausing) {
    return Error(Code::unavailable, "the sandbox is not paused");
  }
  become(SandboxState::resuming);
  Status going = hold(task, wire::Hold::GO_ON);
  if (going.ok()) going = tell_deadline(task, deadline_ms);
  if (info_.state != SandboxState::resuming) {
    return Error(Code::unavailable, "it was ended meanwhile");
  }
  if (!going.ok()) {
    if (on_end_) on_end_(*this, "it could not go on after a pause: " + going.error().describe());
    return going;
  }
  info_.deadline_ms = deadline_ms;
  become(SandboxState::running);
  arm();
  return {};
}

}  // namespace paddock::engine
