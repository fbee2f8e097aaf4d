#include "api/server.h"

#include <boost/json.hpp>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "api/e2b/control.h"
#include "api/e2b/files_http.h"
#include "api/e2b/routing.h"
#include "api/e2b/server.h"
#include "api/noted_exchange.h"
#include "sys/clock.h"

namespace paddock::api {
namespace {

using net::http::Exchange;

Status answer_error(net::Task& task, Exchange& exchange, const Error& error) {
  std::string message = error.describe();
  if (!error.remedy().empty()) message += "; " + error.remedy();
  return e2b::respond_http_error(task, exchange, http_status(error.code()), message);
}

// ---- about the server itself

Status serve_health(net::Task& task, NotedExchange& exchange, const ServerParts& parts) {
  exchange.note().route = "health";
  const Status ready = parts.telemetry.ready();
  boost::json::object body;
  body["status"] = ready.ok() ? "ok" : "failing";
  // Why is for /metrics and the log: whoever asks here may be anybody.
  return e2b::respond_json(task, exchange, ready.ok() ? 200 : 503, body);
}

Status serve_metrics(net::Task& task, NotedExchange& exchange, const ServerParts& parts) {
  exchange.note().route = "metrics";
  auto may = parts.door.may_read_metrics(exchange.request());
  if (!may.ok()) return answer_error(task, exchange, may.error());
  if (!*may) {
    return e2b::respond_http_error(task, exchange, 401,
                                   "/metrics is for a key of `paddock key create --metrics`");
  }
  std::map<std::string, size_t> states;
  for (const auto& [state, name] : engine::kSandboxStateNames) states[std::string(name)] = 0;
  for (const auto& sandbox : parts.sandboxes.all()) {
    ++states[std::string(name_of(engine::kSandboxStateNames, sandbox->info().state))];
  }
  return exchange.respond(task, {200,
                                 {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}},
                                 parts.telemetry.metrics_text(states)});
}

// ---- every request

Status serve_own(net::Task& task, NotedExchange& exchange, const ServerParts& parts) {
  const std::string_view path = exchange.request().path();
  if (path == "/health") return serve_health(task, exchange, parts);
  if (path == "/metrics") return serve_metrics(task, exchange, parts);
  exchange.note().route = "control";
  auto caller = parts.door.caller(exchange.request());
  if (!caller.ok()) return answer_error(task, exchange, caller.error());
  exchange.note().caller = *caller;
  if (Status ready = parts.telemetry.ready(); !ready.ok()) {
    return answer_error(task, exchange,
                        Error(Code::unavailable, "the audit log cannot be written"));
  }
  return e2b::serve_control(task, exchange,
                            {parts.sandboxes, parts.tokens, parts.settings, *caller});
}

Status serve(net::Task& task, NotedExchange& exchange, const ServerParts& parts) {
  auto takes_any = parts.door.takes_any();
  if (!takes_any.ok()) return answer_error(task, exchange, takes_any.error());
  auto to = e2b::route(exchange.request(), {*takes_any ? e2b::Hosts::loopback : e2b::Hosts::any,
                                            parts.settings.domain});
  if (!to.ok()) return answer_error(task, exchange, to.error());
  if (to->to == e2b::Route::To::control) return serve_own(task, exchange, parts);
  if (Status ready = parts.telemetry.ready(); !ready.ok()) {
    return answer_error(task, exchange,
                        Error(Code::unavailable, "the audit log cannot be written"));
  }
  return e2b::serve_sandbox(task, exchange, parts, *to);
}

RequestNote note_of(const net::http::RequestHead& request) {
  RequestNote note;
  note.method = request.method;
  note.path = request.path();
  note.began_us = sys::monotonic_us();
  return note;
}

}  // namespace

net::http::Handler make_handler(const ServerParts& parts) {
  return [parts](net::Task& task, Exchange& exchange) {
    NotedExchange noted(exchange, note_of(exchange.request()),
                        [&](const RequestNote& note) { parts.telemetry.on_stream(note); });
    // What fails here is the connection: its end is all that can be said.
    const Status served = serve(task, noted, parts);
    if (!served.ok()) noted.note_failure(to_string(served.error().code()));
    parts.telemetry.on_request(noted.note());
  };
}

}  // namespace paddock::api
