#include "api/paddock/surface.h"

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "api/e2b/control_pause.h"
#include "api/e2b/json.h"
#include "api/e2b/rpc.h"
#include "api/paddock/request.h"
#include "api/paddock/routes.h"
#include "base/strings.h"

namespace paddock::api::own {
namespace {

using boost::json::object;

constexpr size_t kMaxBody = 1u << 20;
constexpr std::string_view kDocument = "/openapi.json";
constexpr std::string_view kPrefix = "/paddock/v1/";

// Quotas and numbers of things are the caller's to mend; a full disk is not.
int status_of(const Error& error) {
  const bool is_quota = error.code() == Code::resource_exhausted && error.errno_value() == 0;
  return is_quota ? 429 : http_status(error.code());
}

}  // namespace

object error_json(const Error& error) {
  object inner;
  inner["code"] = to_string(error.code());
  inner["message"] = error.describe();
  if (!error.remedy().empty()) inner["remedy"] = error.remedy();
  return {{"error", std::move(inner)}};
}

std::string Request::query(std::string_view name) const {
  for (auto& [key, value] : net::http::parse_query(exchange.request().query())) {
    if (key == name) return value;
  }
  return "";
}

Result<object> read_object(const Request& request, const std::vector<std::string_view>& fields) {
  const std::string text = PD_TRY(request.exchange.read_whole_body(request.task, kMaxBody));
  object body = PD_TRY(e2b::parse_object(text));
  for (const auto& [name, value] : body) {
    if (std::ranges::find(fields, std::string_view(name)) != fields.end()) continue;
    Error error(Code::invalid_argument, "unknown field '" + printable(name) + "'");
    const std::vector<std::string> known(fields.begin(), fields.end());
    if (auto near = nearest(name, known)) error.set_remedy("did you mean '" + *near + "'?");
    return error;
  }
  return body;
}

Status answer(const Request& request, int status, const boost::json::value& body) {
  return e2b::respond_json(request.task, request.exchange, status, body);
}

Status answer_nothing(const Request& request) {
  return request.exchange.respond(request.task, {204, {}, ""});
}

Status answer_error(net::Task& task, NotedExchange& exchange, int status, const Error& error) {
  exchange.note_failure(to_string(error.code()));
  return e2b::respond_json(task, exchange, status, error_json(error));
}

Status answer_error(const Request& request, const Error& error) {
  return answer_error(request.task, request.exchange, status_of(error), error);
}

Result<std::shared_ptr<engine::LiveSandbox>> sandbox_of(const Request& request) {
  const std::string& id = request.names.front();
  request.exchange.note().sandbox = id;
  auto sandbox = request.parts.sandboxes.find(id);
  if (sandbox && request.caller.may_see(sandbox->info().owner)) return sandbox;
  return Error(Code::not_found, "no sandbox " + printable(id.substr(0, 64)))
      .set_remedy("`paddock ps` lists those that live");
}

Result<std::shared_ptr<engine::LiveSandbox>> awake_sandbox_of(const Request& request) {
  auto sandbox = PD_TRY(sandbox_of(request));
  if (e2b::is_awake(request.task, request.parts.sandboxes, *sandbox)) return sandbox;
  if (!sandbox->is_alive()) return sandbox_of(request);
  return Error(Code::failed_precondition, "sandbox " + sandbox->id() + " is paused")
      .set_remedy("`paddock resume " + sandbox->id() + "`");
}

Status show_document(const Request& request) {
  return answer(request, 200, openapi_document());
}

bool is_own_path(std::string_view path) {
  return path.starts_with(kPrefix) || path == kDocument;
}

Status refuse(net::Task& task, NotedExchange& exchange) {
  return answer_error(task, exchange, 401,
                      Error(Code::permission_denied, "no good API key in X-API-Key")
                          .set_remedy("`paddock key create LABEL` makes one"));
}

Status serve(net::Task& task, NotedExchange& exchange, const ServerParts& parts,
             const model::Caller& caller) {
  exchange.note().route = "paddock";
  auto found = find_route(exchange.request().method, exchange.request().path());
  if (!found) {
    return answer_error(
        task, exchange, 404,
        Error(Code::not_found, "no such endpoint").set_remedy("/openapi.json has them all"));
  }
  if (found->route == nullptr) {
    return answer_error(task, exchange, 405,
                        Error(Code::invalid_argument, "this endpoint has another method")
                            .set_remedy("/openapi.json has them all"));
  }
  return found->route->serve({task, exchange, parts, caller, std::move(found->names)});
}

}  // namespace paddock::api::own
