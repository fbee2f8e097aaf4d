// Sandboxes of our own surface, paused, resumed, forked, restarted, rolled back.
#include <boost/json.hpp>
#include <utility>

#include "api/e2b/json.h"
#include "api/paddock/request.h"
#include "api/templates.h"
#include "base/strings.h"
#include "sys/clock.h"

namespace paddock::api::own {
namespace {

using boost::json::object;
using engine::Keep;
using engine::LiveSandbox;
using engine::Snapshot;

constexpr int64_t kMaxForks = 100;
// Of one that goes on, where nobody says how long.
constexpr int64_t kGoesOnSeconds = 300;

Result<Keep> keep_of(const object& body) {
  const bool memory = PD_TRY(e2b::flag_field(body, "memory")).value_or(true);
  return memory ? Keep::memory : Keep::files;
}

Result<int64_t> lives_ms(const Request& request, const object& body) {
  const auto most = static_cast<int64_t>(request.parts.settings.max_timeout_seconds);
  return PD_TRY(timeout_of(request, body, std::min(kGoesOnSeconds, most))) * 1000;
}

// ---- each on a sandbox that is there

Result<object> pause(const Request& request, LiveSandbox& sandbox) {
  const object body = PD_TRY(read_object(request, {"memory"}));
  const Keep keep = PD_TRY(keep_of(body));
  PD_TRY(request.parts.sandboxes.pause(request.task, sandbox, keep));
  return json_of(sandbox);
}

Result<object> resume(const Request& request, LiveSandbox& sandbox) {
  const object body = PD_TRY(read_object(request, {"memory", "timeout_s"}));
  const Keep keep = PD_TRY(keep_of(body));
  const int64_t deadline_ms = sys::wall_clock_ms() + PD_TRY(lives_ms(request, body));
  PD_TRY(request.parts.sandboxes.resume(request.task, sandbox, {deadline_ms, keep}));
  return json_of(sandbox);
}

Result<object> restart(const Request& request, LiveSandbox& sandbox) {
  const object body = PD_TRY(read_object(request, {"timeout_s"}));
  const bool stays = sandbox.is_running() && !body.contains("timeout_s");
  int64_t deadline_ms = sandbox.info().deadline_ms;
  if (!stays) deadline_ms = sys::wall_clock_ms() + PD_TRY(lives_ms(request, body));
  engine::Sandboxes& sandboxes = request.parts.sandboxes;
  // Where it does not start again it stays paused, with its files.
  if (sandbox.is_running()) PD_TRY(sandboxes.pause(request.task, sandbox, Keep::files));
  PD_TRY(sandboxes.resume(request.task, sandbox, {deadline_ms, Keep::files}));
  return json_of(sandbox);
}

Result<object> roll_back(const Request& request, LiveSandbox& sandbox) {
  const object body = PD_TRY(read_object(request, {"snapshot"}));
  const auto named = PD_TRY(e2b::text_field(body, "snapshot"));
  if (!named) return Error(Code::invalid_argument, "'snapshot' is missing");
  const Snapshot to = PD_TRY(snapshot_of(request, *named));
  PD_TRY(request.parts.sandboxes.roll_back(request.task, sandbox, to));
  return json_of(sandbox);
}

Result<object> make_snapshot(const Request& request, LiveSandbox& sandbox) {
  const object body = PD_TRY(read_object(request, {"name"}));
  const auto named = PD_TRY(e2b::text_field(body, "name"));
  std::string name = PD_TRY(snapshot_name(named.value_or("")));
  const Snapshot made =
      PD_TRY(request.parts.sandboxes.snapshot(request.task, sandbox, std::move(name)));
  return snapshot_json(made);
}

Result<object> fork(const Request& request, LiveSandbox& sandbox) {
  const object body = PD_TRY(read_object(request, {"count", "timeout_s"}));
  const int64_t count = PD_TRY(e2b::number_field(body, "count")).value_or(1);
  if (count < 1 || count > kMaxForks) {
    return Error(Code::invalid_argument, "'count' must be 1 to 100");
  }
  const int64_t lives = PD_TRY(lives_ms(request, body));
  const auto forks = PD_TRY(request.parts.sandboxes.fork(
      request.task, sandbox,
      {static_cast<size_t>(count), lives, request.parts.settings.quota_of(request.caller.label)}));
  boost::json::array list;
  for (const auto& made : forks) {
    list.emplace_back(made.ok() ? object{{"sandbox", json_of(**made)}} : error_json(made.error()));
  }
  return object{{"forks", std::move(list)}};
}

using Change = Result<object> (*)(const Request&, LiveSandbox&);

Status answer_change(const Request& request, int good, Change change) {
  auto sandbox = sandbox_of(request);
  if (!sandbox.ok()) return answer_error(request, sandbox.error());
  auto done = change(request, **sandbox);
  return done.ok() ? answer(request, good, *done) : answer_error(request, done.error());
}

}  // namespace

Status pause_sandbox(const Request& request) {
  return answer_change(request, 200, pause);
}

Status resume_sandbox(const Request& request) {
  return answer_change(request, 200, resume);
}

Status restart_sandbox(const Request& request) {
  return answer_change(request, 200, restart);
}

Status roll_back_sandbox(const Request& request) {
  return answer_change(request, 200, roll_back);
}

Status snapshot_sandbox(const Request& request) {
  return answer_change(request, 201, make_snapshot);
}

Status fork_sandbox(const Request& request) {
  return answer_change(request, 201, fork);
}

}  // namespace paddock::api::own
