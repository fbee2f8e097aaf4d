#include "api/e2b/server.h"

#include <utility>

#include "api/e2b/control.h"
#include "api/e2b/envd.h"
#include "api/e2b/routing.h"

namespace paddock::api::e2b {
namespace {

using net::http::Exchange;

// As E2B's proxy answers for a sandbox that it does not know: by this 502 clients learn of its end.
Status answer_gone(net::Task& task, Exchange& exchange, const std::string& id) {
  boost::json::object body;
  body["sandboxId"] = id;
  body["message"] = "The sandbox was not found";
  body["code"] = 502;
  return respond_json(task, exchange, 502, body);
}

Status answer_port(net::Task& task, Exchange& exchange, const Route& to) {
  boost::json::object body;
  body["sandboxId"] = to.id;
  body["message"] = "ports of sandboxes are not reachable yet";
  body["port"] = to.port;
  body["code"] = 501;
  return respond_json(task, exchange, 501, body);
}

// The sandbox by whose token the URL is signed; its tokens are random, so at most one.
std::string find_signer(const net::http::RequestHead& request, engine::Sandboxes& sandboxes,
                        const AccessTokens& tokens) {
  const Query query = query_of(request);
  for (const auto& sandbox : sandboxes.list()) {
    if (check_signature(request, query, tokens.of(sandbox->id())) != Signed::no) {
      return sandbox->id();
    }
  }
  return "";
}

Status answer_error(net::Task& task, Exchange& exchange, const Error& error) {
  return respond_http_error(task, exchange, http_status(error.code()), error.describe());
}

Status serve_caller(net::Task& task, Exchange& exchange, const ServerParts& parts) {
  auto caller = parts.door.caller(exchange.request());
  if (!caller.ok()) return answer_error(task, exchange, caller.error());
  return serve_control(task, exchange, {parts.sandboxes, parts.tokens, *caller});
}

Status serve(net::Task& task, Exchange& exchange, const ServerParts& parts) {
  const auto& [sandboxes, tokens, door] = parts;
  auto takes_any = door.takes_any();
  if (!takes_any.ok()) return answer_error(task, exchange, takes_any.error());
  auto to = route(exchange.request(), *takes_any ? Hosts::loopback : Hosts::any);
  if (!to.ok()) {
    return respond_http_error(task, exchange, http_status(to.error().code()),
                              to.error().describe() + "; " + to.error().remedy());
  }
  if (to->to == Route::To::control) return serve_caller(task, exchange, parts);
  if (to->to == Route::To::signed_file) {
    to->id = find_signer(exchange.request(), sandboxes, tokens);
    if (to->id.empty()) return respond_http_error(task, exchange, 401, "invalid signature");
  }
  auto sandbox = sandboxes.find(to->id);
  if (!sandbox) return answer_gone(task, exchange, to->id);
  if (to->port != kEnvdPort) return answer_port(task, exchange, *to);
  return serve_envd({task, exchange, std::move(sandbox)}, tokens);
}

}  // namespace

net::http::Handler make_handler(const ServerParts& parts) {
  return [parts](net::Task& task, Exchange& exchange) {
    // What fails here is the connection: its end is all that can be said.
    (void)serve(task, exchange, parts).ok();
  };
}

}  // namespace paddock::api::e2b
