#include "api/e2b/server.h"

#include <utility>

#include "api/e2b/control_pause.h"
#include "api/e2b/envd.h"
#include "api/e2b/ports.h"

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

// A class for metrics, of few.
std::string_view class_of(std::string_view path) {
  if (path == "/files") return "files";
  if (path.starts_with("/process.")) return "process";
  if (path.starts_with("/filesystem.")) return "filesystem";
  return "envd";
}

}  // namespace

Status serve_sandbox(net::Task& task, NotedExchange& exchange, const ServerParts& parts, Route to) {
  RequestNote& note = exchange.note();
  note.route = class_of(exchange.request().path());
  if (to.to == Route::To::signed_file) {
    to.id = find_signer(exchange.request(), parts.sandboxes, parts.tokens);
    if (to.id.empty()) return respond_http_error(task, exchange, 401, "invalid signature");
  }
  note.sandbox = to.id;
  auto sandbox = parts.sandboxes.find(to.id);
  if (!sandbox || !is_awake(task, parts.sandboxes, *sandbox)) {
    return answer_gone(task, exchange, to.id);
  }
  note.owner = sandbox->info().owner;
  if (to.port != kEnvdPort) {
    note.route = "port";
    note.path.clear();  // a program's own: nobody knows what stands in it
    return serve_port({task, exchange, *sandbox, to.port, parts.tokens.of(to.id),
                       parts.tokens.of_traffic(to.id),
                       parts.settings.has_tls() ? "https" : "http"});
  }
  return serve_envd({task, exchange, std::move(sandbox)}, parts.tokens);
}

}  // namespace paddock::api::e2b
