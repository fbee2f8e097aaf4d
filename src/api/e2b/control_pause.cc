#include "api/e2b/control_pause.h"

#include "api/e2b/json.h"
#include "sys/clock.h"

namespace paddock::api::e2b {
namespace {

using engine::Keep;
using engine::LiveSandbox;

// How long a sandbox lives on that traffic has woken: as long as one that is made without a word.
constexpr int64_t kWokenMs = 300'000;

Result<Keep> keep_field(const boost::json::object& body) {
  const auto* value = body.if_contains("memory");
  if (value == nullptr || value->is_null()) return Keep::memory;
  if (!value->is_bool()) return Error(Code::invalid_argument, "'memory' must be true or false");
  return value->get_bool() ? Keep::memory : Keep::files;
}

struct Wanted {
  int64_t timeout_ms = 0;
  Keep keep = Keep::memory;
};

Result<Wanted> read_wanted(const ControlRequest& request) {
  const boost::json::object body = PD_TRY(read_body(request));
  const int64_t otherwise = request.version == ApiVersion::v1 ? 15'000 : 300'000;
  Wanted wanted;
  wanted.timeout_ms = PD_TRY(timeout_field(body)).value_or(otherwise);
  PD_TRY(check_timeout(request, wanted.timeout_ms));
  wanted.keep = PD_TRY(keep_field(body));
  return wanted;
}

Status answer_resumed(const ControlRequest& request, LiveSandbox& sandbox, const Wanted& wanted) {
  const int64_t deadline_ms = sys::wall_clock_ms() + wanted.timeout_ms;
  Status resumed =
      request.options.sandboxes.resume(request.task, sandbox, {deadline_ms, wanted.keep});
  if (!resumed.ok()) return fail(request, resumed.error());
  return answer(request, 201, session_json(sandbox, reach_of(request, sandbox)));
}

}  // namespace

Status pause(const ControlRequest& request, LiveSandbox& sandbox) {
  auto body = read_body(request);
  if (!body.ok()) return fail(request, body.error());
  auto keep = keep_field(*body);
  if (!keep.ok()) return fail(request, keep.error());
  Status paused = request.options.sandboxes.pause(request.task, sandbox, *keep);
  if (!paused.ok() && paused.error().code() == Code::failed_precondition) {
    return fail(request, 409, "Sandbox " + sandbox.id() + " is not running");
  }
  return paused.ok() ? answer_nothing(request) : fail(request, paused.error());
}

Status connect(const ControlRequest& request, LiveSandbox& sandbox) {
  auto wanted = read_wanted(request);
  if (!wanted.ok()) return fail(request, wanted.error());
  if (!sandbox.is_running()) return answer_resumed(request, sandbox, *wanted);
  const int64_t deadline_ms = sys::wall_clock_ms() + wanted->timeout_ms;
  if (deadline_ms > sandbox.info().deadline_ms) {
    Status extended = request.options.sandboxes.set_deadline(request.task, sandbox, deadline_ms);
    if (!extended.ok()) return fail(request, extended.error());
  }
  return answer(request, 200, session_json(sandbox, reach_of(request, sandbox)));
}

Status resume(const ControlRequest& request, LiveSandbox& sandbox) {
  auto wanted = read_wanted(request);
  if (!wanted.ok()) return fail(request, wanted.error());
  if (sandbox.is_running()) {
    return fail(request, 409, "Sandbox " + sandbox.id() + " is already running");
  }
  return answer_resumed(request, sandbox, *wanted);
}

bool is_awake(net::Task& task, engine::Sandboxes& sandboxes, LiveSandbox& sandbox) {
  if (sandbox.is_running()) return true;
  // A snapshot under way, a pause, somebody's resume: what comes of it is soon known.
  { const auto turn = sandbox.changes().enter(task); }
  if (sandbox.is_running()) return true;
  if (!sandbox.is_alive() || !sandbox.info().lifecycle.auto_resume) return false;
  return sandboxes.resume(task, sandbox, {sys::wall_clock_ms() + kWokenMs}).ok();
}

}  // namespace paddock::api::e2b
