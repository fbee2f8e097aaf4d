#include "api/e2b/control_request.h"

#include "api/e2b/files_http.h"
#include "api/e2b/json.h"
#include "api/e2b/routing.h"
#include "api/e2b/rpc.h"
#include "base/strings.h"

namespace paddock::api::e2b {
namespace {

constexpr size_t kMaxControlBody = 1u << 20;
constexpr size_t kMaxListed = 100;

}  // namespace

Status fail(const ControlRequest& request, const Error& error) {
  std::string message = error.describe();
  if (!error.remedy().empty()) message += "; " + error.remedy();
  const int status = error.code() == Code::resource_exhausted ? 429 : http_status(error.code());
  return respond_http_error(request.task, request.exchange, status, message);
}

Status fail(const ControlRequest& request, int status, const std::string& message) {
  return respond_http_error(request.task, request.exchange, status, message);
}

Status answer(const ControlRequest& request, int status, const boost::json::value& body) {
  return respond_json(request.task, request.exchange, status, body);
}

Status answer_nothing(const ControlRequest& request) {
  return request.exchange.respond(request.task, {204, {}, ""});
}

Result<boost::json::object> read_body(const ControlRequest& request) {
  return parse_object(PD_TRY(request.exchange.read_whole_body(request.task, kMaxControlBody)));
}

Reach reach_of(const ControlRequest& request, const engine::LiveSandbox& sandbox) {
  const AccessTokens& tokens = request.options.tokens;
  return {tokens.of(sandbox.id()), tokens.of_traffic(sandbox.id()),
          domain_of(request.exchange.request(), request.options.settings.domain)};
}

Result<size_t> page_limit(const Query& query) {
  const auto found = query.find("limit");
  if (found == query.end() || found->second.empty()) return kMaxListed;
  const auto limit = parse_u64(found->second);
  if (limit && *limit >= 1 && *limit <= kMaxListed) return static_cast<size_t>(*limit);
  return Error(Code::invalid_argument, "'limit' must be 1 to 100");
}

Status check_timeout(const ControlRequest& request, int64_t ms) {
  const uint64_t most = request.options.settings.max_timeout_seconds;
  if (static_cast<uint64_t>(ms) <= most * 1000) return {};
  return Error(Code::invalid_argument,
               "'timeout' is longer than this server gives: " + std::to_string(most) + " seconds");
}

}  // namespace paddock::api::e2b
