#include "api/e2b/control.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "api/e2b/control_json.h"
#include "api/e2b/envd.h"
#include "api/e2b/files_http.h"
#include "api/e2b/json.h"
#include "api/e2b/network_json.h"
#include "api/e2b/observation.h"
#include "api/e2b/routing.h"
#include "api/e2b/secrets_http.h"
#include "base/strings.h"
#include "sys/clock.h"

namespace paddock::api::e2b {
namespace {

using boost::json::object;
using engine::LiveSandbox;
using net::http::Exchange;

constexpr size_t kMaxBody = 1u << 20;
constexpr size_t kMaxListed = 100;

// One request on its way to an answer.
struct Request {
  net::Task& task;
  Exchange& exchange;
  const ControlOptions& options;
  std::vector<std::string> path;  // segments, decoded, without the version
  ApiVersion version = ApiVersion::v1;

  const std::string& method() const { return exchange.request().method; }
  // Of a caller whom we know; others get no further than serve_control().
  const model::Caller& caller() const { return *options.caller; }
};

Status fail(const Request& request, const Error& error) {
  std::string message = error.describe();
  if (!error.remedy().empty()) message += "; " + error.remedy();
  const int status = error.code() == Code::resource_exhausted ? 429 : http_status(error.code());
  return respond_http_error(request.task, request.exchange, status, message);
}

Status fail(const Request& request, int status, const std::string& message) {
  return respond_http_error(request.task, request.exchange, status, message);
}

Status answer(const Request& request, int status, const boost::json::value& body) {
  return respond_json(request.task, request.exchange, status, body);
}

Status answer_nothing(const Request& request) {
  return request.exchange.respond(request.task, {204, {}, ""});
}

Result<object> read_body(const Request& request) {
  return parse_object(PD_TRY(request.exchange.read_whole_body(request.task, kMaxBody)));
}

Status check_timeout(const Request& request, int64_t ms) {
  const uint64_t most = request.options.settings.max_timeout_seconds;
  if (static_cast<uint64_t>(ms) <= most * 1000) return {};
  return Error(Code::invalid_argument,
               "'timeout' is longer than this server gives: " + std::to_string(most) + " seconds");
}

// Milliseconds of that field, within what the server gives.
Result<std::optional<int64_t>> read_timeout(const Request& request,
                                            std::string_view name = "timeout") {
  const object body = PD_TRY(read_body(request));
  const auto ms = PD_TRY(timeout_field(body, name));
  if (ms) PD_TRY(check_timeout(request, *ms));
  return ms;
}

Reach reach_of(const Request& request, const LiveSandbox& sandbox) {
  const AccessTokens& tokens = request.options.tokens;
  return {tokens.of(sandbox.id()), tokens.of_traffic(sandbox.id()),
          domain_of(request.exchange.request(), request.options.settings.domain)};
}

SecretLookup secrets_of(const Request& request) {
  return [&request](const std::string& name) {
    return request.options.secrets.value_of(request.caller(), name);
  };
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
  if (states.empty()) return true;
  return std::ranges::any_of(split(states, ','),
                             [&](const std::string& one) { return one == state; });
}

Status list(const Request& request) {
  const Query query = query_of(request.exchange.request());
  auto value = [&](const char* name) {
    auto found = query.find(name);
    return found == query.end() ? std::string() : found->second;
  };
  const auto limit =
      value("limit").empty() ? std::optional<uint64_t>(kMaxListed) : parse_u64(value("limit"));
  if (!limit || *limit == 0 || *limit > kMaxListed) {
    return fail(request, 400, "'limit' must be 1 to 100");
  }
  int64_t started_after = 0;
  if (!value("startedAfter").empty()) {
    auto parsed = parse_timestamp(value("startedAfter"));
    if (!parsed.ok()) return fail(request, parsed.error().add_context("'startedAfter'"));
    started_after = *parsed;
  }
  std::map<std::string, std::shared_ptr<LiveSandbox>> found;
  for (const auto& sandbox : request.options.sandboxes.list()) {
    if (!request.caller().may_see(sandbox->info().owner)) continue;
    if (sandbox->info().created_ms < started_after) continue;
    const bool named =
        value("template").empty() || value("template") == sandbox->info().template_name;
    if (named && wants(value("state"), "running") && has_metadata(*sandbox, value("metadata"))) {
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

Status connect(const Request& request, LiveSandbox& sandbox) {
  auto ms = read_timeout(request);
  if (!ms.ok()) return fail(request, ms.error());
  Status extended = extend(request, sandbox, *ms);
  if (!extended.ok()) return fail(request, extended.error());
  return answer(request, 200, session_json(sandbox, reach_of(request, sandbox)));
}

Status refresh(const Request& request, LiveSandbox& sandbox) {
  auto ms = read_timeout(request, "duration");
  if (!ms.ok()) return fail(request, ms.error());
  Status extended = extend(request, sandbox, *ms);
  return extended.ok() ? answer_nothing(request) : fail(request, extended.error());
}

Status resume(const Request& request, LiveSandbox& sandbox) {
  return fail(request, 409, "Sandbox " + sandbox.id() + " is already running");
}

Status metrics(const Request& request, LiveSandbox& sandbox) {
  auto range = time_range(query_of(request.exchange.request()));
  if (!range.ok()) return fail(request, range.error());
  auto samples = metrics_json(request.task, sandbox, *range);
  return samples.ok() ? answer(request, 200, *samples) : fail(request, samples.error());
}

Status logs(const Request& request, LiveSandbox& sandbox) {
  auto wanted = log_query(query_of(request.exchange.request()), request.version);
  if (!wanted.ok()) return fail(request, wanted.error());
  return answer(request, 200, logs_json(sandbox.log(), *wanted, request.version));
}

Status set_network(const Request& request, LiveSandbox& sandbox) {
  auto body = read_body(request);
  if (!body.ok()) return fail(request, body.error());
  auto wanted = network_of_update(*body, sandbox.network(), secrets_of(request));
  if (!wanted.ok()) return fail(request, wanted.error());
  Status set = sandbox.set_network(request.task, std::move(*wanted));
  return set.ok() ? answer_nothing(request) : fail(request, set.error());
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
    SandboxRow{"POST", "resume", resume},
    SandboxRow{"GET", "metrics", metrics},
    SandboxRow{"GET", "logs", logs},
    SandboxRow{"PUT", "network", set_network},
};

// What is known and not built, so that it is told from what nobody knows.
constexpr std::array<std::string_view, 3> kUnbuiltActions{"pause", "fork", "snapshots"};
constexpr std::array<std::string_view, 5> kUnbuilt{"snapshots", "templates", "volumes", "teams",
                                                   "volumecontent"};

Status serve_one_sandbox(const Request& request) {
  const std::string& id = request.path[1];
  const std::string action = request.path.size() > 2 ? request.path[2] : "";
  const auto sandbox = request.options.sandboxes.find(id);
  // Somebody else's is answered like none at all.
  if (!sandbox || !request.caller().may_see(sandbox->info().owner)) {
    return fail(request, 404,
                "Sandbox \"" + printable(id.substr(0, 64)) +
                    "\" doesn't exist or you don't have access to it");
  }
  for (const SandboxRow& row : kSandboxRows) {
    if (row.method == request.method() && row.action == action) return row.serve(request, *sandbox);
  }
  if (std::ranges::find(kUnbuiltActions, action) != kUnbuiltActions.end()) {
    return fail(request, 501, "'" + action + "' of sandboxes is not built yet");
  }
  return fail(request, 404, "no such endpoint");
}

Status serve_path(const Request& request) {
  const auto& path = request.path;
  if (path.empty()) return fail(request, 404, "no such endpoint");
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
