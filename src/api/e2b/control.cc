#include "api/e2b/control.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "api/e2b/control_json.h"
#include "api/e2b/control_pause.h"
#include "api/e2b/control_request.h"
#include "api/e2b/control_snapshots.h"
#include "api/e2b/envd.h"
#include "api/e2b/files_http.h"
#include "api/e2b/json.h"
#include "api/e2b/network_json.h"
#include "api/e2b/observation.h"
#include "api/e2b/routing.h"
#include "api/e2b/secrets_http.h"
#include "api/e2b/templates_http.h"
#include "base/strings.h"
#include "sys/clock.h"

namespace paddock::api::e2b {
namespace {

using boost::json::object;
using engine::LiveSandbox;
using net::http::Exchange;
using Request = ControlRequest;

// Milliseconds of that field, within what the server gives.
Result<std::optional<int64_t>> read_timeout(const Request& request,
                                            std::string_view name = "timeout") {
  const object body = PD_TRY(read_body(request));
  const auto ms = PD_TRY(timeout_field(body, name));
  if (ms) PD_TRY(check_timeout(request, *ms));
  return ms;
}

SecretLookup secrets_of(const Request& request) {
  return [&request](const std::string& name) {
    return request.options.secrets.value_of(request.caller(), name);
  };
}

// Somebody else's are not, nor are those that builds work in.
bool is_shown(const Request& request, const LiveSandbox& sandbox) {
  const engine::LiveInfo& info = sandbox.info();
  return info.purpose == engine::LiveInfo::Purpose::client && request.caller().may_see(info.owner);
}

// ---- making and listing

Status create(const Request& request) {
  auto body = read_body(request);
  if (!body.ok()) return fail(request, body.error());
  auto wanted = create_request(*body, request.version, secrets_of(request));
  if (!wanted.ok()) return fail(request, wanted.error());
  if (Status fits = check_timeout(request, wanted->timeout_ms); !fits.ok()) {
    return fail(request, fits.error());
  }
  wanted->owner = request.caller().owner;
  wanted->quota = request.options.settings.quota_of(request.caller().label);
  Status origin = find_origin(request, *wanted);
  if (!origin.ok()) return fail(request, origin.error());
  auto made = request.options.sandboxes.create(request.task, std::move(*wanted));
  if (!made.ok()) return fail(request, made.error());
  return answer(request, 201, session_json(**made, reach_of(request, **made)));
}

// Metadata comes encoded twice: as a query string within a query's value.
bool has_metadata(const LiveSandbox& sandbox, const std::string& wanted) {
  for (const auto& [key, value] : net::http::parse_query(wanted)) {
    using net::http::Decode;
    const auto& metadata = sandbox.info().metadata;
    auto found = metadata.find(net::http::percent_decode(key, Decode::path));
    if (found == metadata.end() ||
        found->second != net::http::percent_decode(value, Decode::path)) {
      return false;
    }
  }
  return true;
}

// The place of a sandbox in the order of a list.
std::string key_of(const LiveSandbox& sandbox) {
  return std::to_string(sandbox.info().created_ms) + "-" + sandbox.id();
}

bool wants(const std::string& states, std::string_view state) {
  return std::ranges::any_of(split(states, ','),
                             [&](const std::string& one) { return one == state; });
}

Status list(const Request& request) {
  const Query query = query_of(request.exchange.request());
  auto value = [&](const char* name) {
    auto found = query.find(name);
    return found == query.end() ? std::string() : found->second;
  };
  const auto limit = page_limit(query);
  if (!limit.ok()) return fail(request, limit.error());
  int64_t started_after = 0;
  if (!value("startedAfter").empty()) {
    auto parsed = parse_timestamp(value("startedAfter"));
    if (!parsed.ok()) return fail(request, parsed.error().add_context("'startedAfter'"));
    started_after = *parsed;
  }
  // Clients of v1 know of no other state.
  const char* by_default = request.version == ApiVersion::v1 ? "running" : "running,paused";
  const std::string states = value("state").empty() ? by_default : value("state");
  std::map<std::string, std::shared_ptr<LiveSandbox>> found;
  for (const auto& sandbox : request.options.sandboxes.list()) {
    if (!is_shown(request, *sandbox)) continue;
    if (sandbox->info().created_ms < started_after) continue;
    const bool named =
        value("template").empty() || value("template") == sandbox->info().template_name;
    if (named && wants(states, state_json(*sandbox)) && has_metadata(*sandbox, value("metadata"))) {
      found.emplace(key_of(*sandbox), sandbox);
    }
  }
  std::vector<std::string> keys;
  for (const auto& [key, sandbox] : found) keys.push_back(key);
  const bool newest_first = value("order") != "asc";
  if (newest_first) std::ranges::reverse(keys);
  const std::string after = value("nextToken");
  if (!after.empty()) {
    std::erase_if(
        keys, [&](const std::string& key) { return newest_first ? key >= after : key <= after; });
  }
  net::http::Response response{200, {{"Content-Type", "application/json"}}, ""};
  if (keys.size() > *limit) {
    keys.resize(*limit);
    response.headers.add("X-Next-Token", keys.back());
  }
  boost::json::array out;
  for (const std::string& key : keys) out.emplace_back(listed_json(*found[key]));
  response.body = boost::json::serialize(out);
  return request.exchange.respond(request.task, response);
}

// ---- one sandbox

Status detail(const Request& request, LiveSandbox& sandbox) {
  return answer(request, 200, detail_json(sandbox, reach_of(request, sandbox)));
}

Status end(const Request& request, LiveSandbox& sandbox) {
  Status killed = request.options.sandboxes.kill(request.task, sandbox.id(), "it was killed");
  if (!killed.ok()) return fail(request, killed.error());
  return answer_nothing(request);
}

Status set_timeout(const Request& request, LiveSandbox& sandbox) {
  auto ms = read_timeout(request);
  if (!ms.ok()) return fail(request, ms.error());
  if (!*ms) return fail(request, 400, "'timeout' is missing");
  if (!sandbox.is_running()) return fail(request, 404, "Sandbox " + sandbox.id() + " is paused");
  Status set =
      request.options.sandboxes.set_deadline(request.task, sandbox, sys::wall_clock_ms() + **ms);
  return set.ok() ? answer_nothing(request) : fail(request, set.error());
}

// Only ever moves the deadline away.
Status extend(const Request& request, LiveSandbox& sandbox, std::optional<int64_t> ms) {
  const int64_t wanted = sys::wall_clock_ms() + ms.value_or(0);
  if (wanted <= sandbox.info().deadline_ms) return {};
  return request.options.sandboxes.set_deadline(request.task, sandbox, wanted);
}

Status refresh(const Request& request, LiveSandbox& sandbox) {
  auto ms = read_timeout(request, "duration");
  if (!ms.ok()) return fail(request, ms.error());
  if (!sandbox.is_running()) return fail(request, 404, "Sandbox " + sandbox.id() + " is paused");
  Status extended = extend(request, sandbox, *ms);
  return extended.ok() ? answer_nothing(request) : fail(request, extended.error());
}

Status metrics(const Request& request, LiveSandbox& sandbox) {
  auto range = time_range(query_of(request.exchange.request()));
  if (!range.ok()) return fail(request, range.error());
  if (!sandbox.is_running()) return answer(request, 200, boost::json::array());
  auto samples = metrics_json(request.task, sandbox, *range);
  return samples.ok() ? answer(request, 200, *samples) : fail(request, samples.error());
}

Status logs(const Request& request, LiveSandbox& sandbox) {
  auto wanted = log_query(query_of(request.exchange.request()), request.version);
  if (!wanted.ok()) return fail(request, wanted.error());
  return answer(request, 200, logs_json(sandbox.log(), *wanted, request.version));
}

// Some of what is there is kept, and must not change meanwhile.
Status replace_network(const Request& request, LiveSandbox& sandbox, const object& body) {
  const auto turn = sandbox.changes().enter(request.task);
  auto wanted = PD_TRY(network_of_update(body, sandbox.network(), secrets_of(request)));
  return request.options.sandboxes.set_network(request.task, sandbox, std::move(wanted));
}

Status set_network(const Request& request, LiveSandbox& sandbox) {
  auto body = read_body(request);
  if (!body.ok()) return fail(request, body.error());
  const Status set = replace_network(request, sandbox, *body);
  return set.ok() ? answer_nothing(request) : fail(request, Status(set).error());
}

struct SandboxRow {
  std::string_view method;
  std::string_view action;  // behind the id
  Status (*serve)(const Request&, LiveSandbox&);
};
constexpr std::array kSandboxRows{
    SandboxRow{"GET", "", detail},
    SandboxRow{"DELETE", "", end},
    SandboxRow{"POST", "timeout", set_timeout},
    SandboxRow{"POST", "connect", connect},
    SandboxRow{"POST", "refreshes", refresh},
    SandboxRow{"POST", "fork", fork},
    SandboxRow{"POST", "pause", pause},
    SandboxRow{"POST", "resume", resume},
    SandboxRow{"POST", "snapshots", make_snapshot},
    SandboxRow{"GET", "metrics", metrics},
    SandboxRow{"GET", "logs", logs},
    SandboxRow{"PUT", "network", set_network},
};

// What is known and not built, so that it is told from what nobody knows.
constexpr std::array<std::string_view, 3> kUnbuilt{"volumes", "teams", "volumecontent"};

Status serve_one_sandbox(const Request& request) {
  const std::string& id = request.path[1];
  const std::string action = request.path.size() > 2 ? request.path[2] : "";
  const auto sandbox = request.options.sandboxes.find(id);
  // Somebody else's is answered like none at all.
  if (!sandbox || !is_shown(request, *sandbox)) {
    return fail(request, 404,
                "Sandbox \"" + printable(id.substr(0, 64)) +
                    "\" doesn't exist or you don't have access to it");
  }
  // While a snapshot of it is made, or it is on its way to a pause or out of it.
  if (request.method() == "POST") {
    const auto turn = sandbox->changes().enter(request.task);
  }
  for (const SandboxRow& row : kSandboxRows) {
    if (row.method == request.method() && row.action == action) return row.serve(request, *sandbox);
  }
  return fail(request, 404, "no such endpoint");
}

Status serve_path(const Request& request) {
  const auto& path = request.path;
  if (path.empty()) return fail(request, 404, "no such endpoint");
  if (path.size() == 1 && path[0] == "snapshots" && request.method() == "GET") {
    return list_snapshots(request);
  }
  if (path[0] == "templates") return serve_templates(request);
  if (std::ranges::find(kUnbuilt, path[0]) != kUnbuilt.end()) {
    return fail(request, 501, "/" + path[0] + " is not built yet");
  }
  if (path[0] == "secrets") {
    return serve_secrets(request.task, request.exchange, path,
                         {request.options.secrets, request.caller()});
  }
  if (path[0] != "sandboxes" || path.size() > 3) return fail(request, 404, "no such endpoint");
  if (path.size() > 1) return serve_one_sandbox(request);
  if (request.method() == "POST") return create(request);
  if (request.method() == "GET") return list(request);
  return fail(request, 405, "/sandboxes knows GET and POST");
}

// One message for keys that never were, that were revoked, and that are somebody else's.
Status refuse_caller(const Request& request) {
  if (request.exchange.request().headers.get("x-api-key").empty()) {
    return fail(request, 401, "no API key: set E2B_API_KEY");
  }
  return fail(request, 401, "Invalid API key");
}

}  // namespace

Status serve_control(net::Task& task, Exchange& exchange, const ControlOptions& options) {
  Request request{task, exchange, options, {}};
  for (const std::string& part : split(exchange.request().path().substr(1), '/')) {
    request.path.push_back(net::http::percent_decode(part, net::http::Decode::path));
  }
  if (!options.caller) return refuse_caller(request);
  if (request.path.front() == "v2" || request.path.front() == "v3") {
    request.version = ApiVersion::v2;
    request.path.erase(request.path.begin());
  }
  return serve_path(request);
}

}  // namespace paddock::api::e2b
