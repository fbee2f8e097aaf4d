// Pausing and resuming, as the daemon keeps it on record.
#include <utility>

#include "engine/live/catalogue.h"
#include "engine/live/sandboxes.h"
#include "sys/fault_point.h"

namespace paddock::engine {

Status Sandboxes::pause(net::Task& task, LiveSandbox& sandbox, Keep keep) {
  const auto turn = sandbox.changes().enter(task);
  if (keep == Keep::memory) {
    PD_TRY_CTX("pausing", sandbox.pause(task));
    sys::fault_point("live.pause.stopped");
  } else {
    if (!sandbox.is_running()) {
      return Error(Code::failed_precondition, "the sandbox is not running");
    }
    PD_TRY_CTX("pausing", lie_down(task, sandbox));
    sandbox.settle(Keep::files);
  }
  return note(task, sandbox);
}

Status Sandboxes::resume(net::Task& task, LiveSandbox& sandbox, ResumeRequest wanted) {
  const auto turn = sandbox.changes().enter(task);
  if (sandbox.is_running()) return {};  // somebody else was first
  if (wanted.keep == Keep::files && !sandbox.is_asleep()) {
    PD_TRY_CTX("resuming", lie_down(task, sandbox));
    sandbox.settle(Keep::files);
  }
  if (sandbox.is_asleep()) {
    Status standing = stand_up(task, sandbox, wanted.deadline_ms);
    if (!standing.ok()) {
      sandbox.settle(Keep::files);  // as before, for another try
      return std::move(standing).error().add_context("resuming");
    }
  } else {
    PD_TRY_CTX("resuming", sandbox.resume(task, wanted.deadline_ms));
    sys::fault_point("live.resume.going");
  }
  return note(task, sandbox);
}

Status Sandboxes::note(net::Task& task, LiveSandbox& sandbox) {
  return books_.run(task, [&, info = sandbox.info()]() -> Status {
    PD_TRY(Catalogue(parts_.database).set_state(info));
    return Catalogue(parts_.database).set_deadline(info);
  });
}

void Sandboxes::on_time_up(LiveSandbox& sandbox) {
  if (sandbox.info().lifecycle.at_deadline == Lifecycle::AtDeadline::kill) {
    return end_later(sandbox, "its time was up");
  }
  loop_.spawn([this, sandbox = sandbox.shared_from_this()](net::Task& task) {
    const Status paused = pause(task, *sandbox, sandbox->info().lifecycle.keep);
    if (paused.ok() || !sandbox->is_running()) return;
    (void)finish(task, sandbox->id(),
                 "its time was up, and it could not be paused: " + paused.error().describe())
        .ok();
  });
}

}  // namespace paddock::engine
