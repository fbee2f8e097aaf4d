#include "engine/live/adoption.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "engine/live/catalogue.h"
#include "engine/live/live_record.h"
#include "engine/live/sandboxes.h"
#include "sys/child.h"
#include "sys/clock.h"
#include "sys/fault_point.h"

namespace paddock::engine {
namespace {

// What dies with its stream is gone within milliseconds, on a loaded machine within seconds.
constexpr std::chrono::seconds kDeathPatience{20};

class Adopter {
 public:
  Adopter(const Parts& parts, LiveInfo info) : parts_(parts), info_(std::move(info)) {}

  // nullopt: it is gone, and on record as such.
  Result<std::optional<Adopted>> run() {
    auto adopted = take_over();
    if (adopted.ok()) return std::optional(std::move(*adopted));
    PD_TRY_CTX("removing what is left of sandbox " + info_.id.str(), remove());
    PD_TRY(remove_orphan(parts_.home, parts_.database, info_.id));
    info_.state = SandboxState::gone;
    info_.reason = reason(adopted.error());
    PD_TRY(LiveRecords(parts_.database).remove(info_.id));
    PD_TRY(Catalogue(parts_.database).set_state(info_));
    settle_view();
    return std::optional<Adopted>();
  }

 private:
  Result<Adopted> take_over() {
    Adopted out;
    identity_ = PD_TRY(find_identity(parts_.database, info_.id));
    auto record = PD_TRY(LiveRecords(parts_.database).find(info_.id));
    if (!record) return Error(Code::not_found, "it was not made to the end");
    info_.base_template = std::move(record->base_template);
    info_.environment = std::move(record->environment);
    info_.lifecycle = record->lifecycle;
    info_.main_command = record->main_command;
    out.setup = std::move(record->setup);
    out.network = std::move(record->network);
    if (info_.state == SandboxState::paused && info_.kept == Keep::files) return asleep(out);
    if (!identity_ || PD_TRY(SandboxRecord::is_dead(parts_.home, info_.id))) {
      return Error(Code::not_found, "its agent is gone");
    }
    out.backend = PD_TRY(parts_.make_backend(identity_->level));
    out.sandbox = PD_TRY(out.backend->adopt(adoption_of(out.setup)));
    Status complete = speak(out);
    sys::fault_point("live.adopt.spoken");
    if (complete.ok()) complete = own(out);
    if (!complete.ok()) {
      out.sandbox.reset();  // and it is destroyed
      return std::move(complete).error();
    }
    out.info = info_;
    if (info_.state != SandboxState::paused) out.info.state = SandboxState::creating;
    return out;
  }

  // It has no agent, or one that was about to end. What `paddock run` has cleared away meanwhile
  // is made anew.
  Result<Adopted> asleep(Adopted& out) {
    PD_TRY(remove());
    info_.main_command = 0;  // it ended with all the others
    const model::Level level = out.setup.decision.level;
    out.record = std::make_shared<SandboxRecord>(
        PD_TRY(SandboxRecord::renew(parts_.home, parts_.database, level, info_.id)));
    out.info = info_;
    return std::move(out);
  }

  Status own(Adopted& out) {
    out.record = std::make_shared<SandboxRecord>(
        PD_TRY(SandboxRecord::adopt(parts_.home, parts_.database, info_.id)));
    if (info_.state != SandboxState::paused) info_.state = SandboxState::running;
    return Catalogue(parts_.database).set_state(info_);
  }

  isolation::Adoption adoption_of(const LiveSetup& setup) const {
    isolation::Adoption adoption;
    adoption.id = info_.id;
    adoption.state_dir = parts_.home / "sandboxes" / info_.id.str();
    adoption.limits = setup.limits;
    adoption.home = model::GuestPath(setup.home);
    adoption.pid = identity_->pid;
    adoption.pid_start = identity_->pid_start;
    adoption.controls = setup.decision.controls;
    adoption.confinement = setup.start;
    return adoption;
  }

  // With one of another protocol there is nothing to say, and nothing wrong: it stays until its
  // time is up.
  static Status speak(Adopted& out) {
    // So that it can answer; take_over() freezes again what is paused.
    (void)out.sandbox->thaw().ok();
    auto link = std::make_unique<AgentLink>(out.sandbox->stream());
    auto resumed = resume_agent(*link);
    if (!resumed.ok() && resumed.error().code() == Code::failed_precondition) return {};
    if (!resumed.ok()) return std::move(resumed).error();
    out.resumed = std::move(*resumed);
    out.waiting = sys::SocketFd(::fcntl(out.sandbox->stream().get(), F_DUPFD_CLOEXEC, 3));
    if (!out.waiting.is_open()) return Error::from_errno(errno, "watching the agent's stream");
    out.link = std::move(link);
    return {};
  }

  // Whatever runs of it or is the kernel's.
  Status remove() {
    auto backend =
        PD_TRY(parts_.make_backend(identity_ ? identity_->level : model::Level::container));
    if (identity_ && identity_->pid > 0) {
      // Destroyed at once: it kills, and waits.
      (void)sys::Process::adopt(identity_->pid, identity_->pid_start).ok();
    }
    const int64_t end = sys::monotonic_us() + std::chrono::microseconds(kDeathPatience).count();
    while (!PD_TRY(SandboxRecord::is_dead(parts_.home, info_.id))) {
      if (sys::monotonic_us() > end) return Error(Code::timed_out, "its agent does not end");
      PD_TRY(backend->reclaim(info_.id));
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return backend->reclaim(info_.id);
  }

  // What it wrote is left as by any other end. What fails is made up for by the view's next user.
  void settle_view() {
    if (!info_.view) return;
    model::Outcome outcome;
    outcome.ending = model::Ending::killed;
    outcome.reason = info_.reason;
    (void)parts_.views.settle(*info_.view, step_end(outcome)).ok();
  }

  std::string reason(const Error& why) const {
    if (sys::wall_clock_ms() >= info_.deadline_ms) return "its time was up while no daemon ran";
    if (info_.state == SandboxState::stopping) return "it was being killed when its daemon ended";
    return "it did not outlive its daemon: " + why.describe();
  }

  const Parts& parts_;
  LiveInfo info_;
  std::optional<SandboxIdentity> identity_;
};

}  // namespace

Adopted::~Adopted() {
  if (sandbox) sandbox->let_go();
  if (record) record->abandon();
}

Result<std::vector<Adopted>> adopt_all(const Parts& parts) {
  std::vector<Adopted> out;
  for (LiveInfo& info : PD_TRY(Catalogue(parts.database).list())) {
    if (info.state == SandboxState::gone) continue;
    auto adopted = PD_TRY(Adopter(parts, std::move(info)).run());
    if (adopted) out.push_back(std::move(*adopted));
  }
  return out;
}

}  // namespace paddock::engine
