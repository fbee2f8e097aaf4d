#include "api/e2b/control_snapshots.h"

#include <algorithm>
#include <utility>

#include "api/e2b/envd.h"
#include "api/e2b/json.h"
#include "api/templates.h"
#include "base/strings.h"

namespace paddock::api::e2b {
namespace {

using boost::json::array;
using boost::json::object;
using engine::LiveSandbox;
using engine::Snapshot;

constexpr int64_t kMaxForks = 100;
constexpr int64_t kForkLivesMs = 300'000;

// A full disk is no excess of requests, which clients would repeat.
Status fail_writing(const ControlRequest& request, const Error& error) {
  if (error.code() != Code::resource_exhausted) return fail(request, error);
  return fail(request, 507, error.describe());
}

object snapshot_json(const Snapshot& snapshot) {
  array names;
  if (!snapshot.name.empty()) names.emplace_back(snapshot.name + std::string(kOnlyTag));
  object out;
  out["snapshotID"] = snapshot.id;
  out["names"] = std::move(names);
  // Ours: what holds for its files, and that processes are not in it.
  out["guarantee"] = name_of(engine::kGuaranteeNames, snapshot.guarantee);
  out["memory"] = false;
  return out;
}

TemplateQuestion question_of(const ControlRequest& request) {
  return {request.task, request.options.sandboxes, request.caller()};
}

Result<std::string> name_field(const object& body) {
  return snapshot_name(PD_TRY(text_field(body, "name")).value_or(""));
}

std::string snapshot_key(const Snapshot& snapshot) {
  return std::to_string(snapshot.created_ms) + "-" + snapshot.id;
}

}  // namespace

Status find_origin(const ControlRequest& request, engine::CreateRequest& wanted) {
  return api::find_origin(question_of(request), wanted);
}

Status make_snapshot(const ControlRequest& request, LiveSandbox& sandbox) {
  auto body = read_body(request);
  if (!body.ok()) return fail(request, body.error());
  auto name = name_field(*body);
  if (!name.ok()) return fail(request, name.error());
  auto made = request.options.sandboxes.snapshot(request.task, sandbox, std::move(*name));
  if (!made.ok()) return fail_writing(request, made.error());
  return answer(request, 201, snapshot_json(*made));
}

Status fork(const ControlRequest& request, LiveSandbox& sandbox) {
  auto body = read_body(request);
  if (!body.ok()) return fail(request, body.error());
  auto timeout = timeout_field(*body);
  if (!timeout.ok()) return fail(request, timeout.error());
  const int64_t lives_ms = timeout->value_or(kForkLivesMs);
  if (Status given = check_timeout(request, lives_ms); !given.ok()) {
    return fail(request, given.error());
  }
  auto count = number_field(*body, "count");
  if (!count.ok()) return fail(request, count.error());
  const int64_t wanted = count->value_or(1);
  if (wanted < 1 || wanted > kMaxForks) return fail(request, 400, "'count' must be 1 to 100");
  auto forked =
      request.options.sandboxes.fork(request.task, sandbox,
                                     {static_cast<size_t>(wanted), lives_ms,
                                      request.options.settings.quota_of(request.caller().label)});
  if (!forked.ok()) return fail_writing(request, forked.error());
  array out;
  for (auto& one : *forked) {
    object item;
    if (one.ok()) {
      item["sandbox"] = session_json(**one, reach_of(request, **one));
    } else {
      const int status =
          one.error().code() == Code::resource_exhausted ? 429 : http_status(one.error().code());
      item["error"] = object{{"code", status}, {"message", one.error().describe()}};
    }
    out.push_back(std::move(item));
  }
  return answer(request, 201, out);
}

Status list_snapshots(const ControlRequest& request) {
  const Query query = query_of(request.exchange.request());
  auto value = [&](const char* name) {
    auto found = query.find(name);
    return found == query.end() ? std::string() : found->second;
  };
  const auto limit = page_limit(query);
  if (!limit.ok()) return fail(request, limit.error());
  auto all = request.options.sandboxes.snapshots(request.task);
  if (!all.ok()) return fail(request, all.error());
  std::ranges::sort(*all, std::greater<>(), snapshot_key);
  std::string name = value("name");
  if (name.ends_with(kOnlyTag)) name.resize(name.size() - kOnlyTag.size());
  const std::string after = value("nextToken");
  net::http::Response response{200, {{"Content-Type", "application/json"}}, ""};
  array out;
  std::string last;
  for (const Snapshot& snapshot : *all) {
    if (!request.caller().may_see(snapshot.owner)) continue;
    if (!value("sandboxID").empty() && snapshot.sandbox != value("sandboxID")) continue;
    if (!name.empty() && snapshot.name != name) continue;
    if (!after.empty() && snapshot_key(snapshot) >= after) continue;
    if (out.size() == *limit) {
      response.headers.add("X-Next-Token", last);
      break;
    }
    last = snapshot_key(snapshot);
    out.push_back(snapshot_json(snapshot));
  }
  response.body = boost::json::serialize(out);
  return request.exchange.respond(request.task, response);
}

Status delete_template(const ControlRequest& request) {
  const Status removed =
      remove_template(question_of(request), request.options.builder, request.path[1]);
  return removed.ok() ? answer_nothing(request) : fail(request, Status(removed).error());
}

}  // namespace paddock::api::e2b
