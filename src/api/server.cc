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
#include "api/e2b/upload_http.h"
#include "api/noted_exchange.h"
#include "api/paddock/surface.h"
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

Status answer_metrics(net::Task& task, NotedExchange& exchange, const ServerParts& parts) {
  exchange.note().route = "metrics";
  std::map<std::string, size_t> states;
  for (const auto& [state, name] : engine::kSandboxStateNames) states[std::string(name)] = 0;
  for (const auto& sandbox : parts.sandboxes.all()) {
    ++states[std::string(name_of(engine::kSandboxStateNames, sandbox->info().state))];
  }
  return exchange.respond(task, {200,
                                 {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}},
                                 parts.telemetry.metrics_text(states)});
}

Status serve_metrics(net::Task& task, NotedExchange& exchange, const ServerParts& parts) {
  exchange.note().route = "metrics";
  auto may = parts.door.may_read_metrics(exchange.request());
  if (!may.ok()) return answer_error(task, exchange, may.error());
  if (!*may) {
    return e2b::respond_http_error(task, exchange, 401,
                                   "/metrics is for a key of `paddock key create --metrics`");
  }
  return answer_metrics(task, exchange, parts);
}

// ---- every request

// What is served only while it can be put on record.
Status check_recorded(const ServerParts& parts) {
  if (parts.telemetry.ready().ok()) return {};
  return Error(Code::unavailable, "the audit log cannot be written")
      .set_remedy("the server's operator sees why in its folder and file system");
}

Status serve_caller(net::Task& task, NotedExchange& exchange, const ServerParts& parts) {
  const bool is_own = own::is_own_path(exchange.request().path());
  exchange.note().route = is_own ? "paddock" : "control";
  auto caller = parts.door.caller(exchange.request());
  if (!caller.ok()) return answer_error(task, exchange, caller.error());
  exchange.note().caller = *caller;
  if (Status recorded = check_recorded(parts); !recorded.ok()) {
    return answer_error(task, exchange, recorded.error());
  }
  if (!is_own) {
    return e2b::serve_control(
        task, exchange,
        {parts.sandboxes, parts.tokens, parts.settings, parts.secrets, parts.builder, *caller});
  }
  if (!*caller) return own::refuse(task, exchange);
  return own::serve(task, exchange, parts, **caller);
}

// The link is the key: whoever it was made for has shown his.
Status serve_upload(net::Task& task, NotedExchange& exchange, const ServerParts& parts) {
  exchange.note().route = "upload";
  if (Status recorded = check_recorded(parts); !recorded.ok()) {
    return answer_error(task, exchange, recorded.error());
  }
  return e2b::serve_upload(task, exchange, parts.builder.uploads(), parts.tokens);
}

Status serve_control(net::Task& task, NotedExchange& exchange, const ServerParts& parts) {
  const std::string_view path = exchange.request().path();
  if (path == "/health") return serve_health(task, exchange, parts);
  if (path == "/metrics") return serve_metrics(task, exchange, parts);
  if (path.starts_with(e2b::kUploadPath)) return serve_upload(task, exchange, parts);
  return serve_caller(task, exchange, parts);
}

Status serve(net::Task& task, NotedExchange& exchange, const ServerParts& parts) {
  auto takes_any = parts.door.takes_any();
  if (!takes_any.ok()) return answer_error(task, exchange, takes_any.error());
  auto to = e2b::route(exchange.request(), {*takes_any ? e2b::Hosts::loopback : e2b::Hosts::any,
                                            parts.settings.domain});
  if (!to.ok()) return answer_error(task, exchange, to.error());
  if (to->to == e2b::Route::To::control) return serve_control(task, exchange, parts);
  if (Status recorded = check_recorded(parts); !recorded.ok()) {
    return answer_error(task, exchange, recorded.error());
  }
  return e2b::serve_sandbox(task, exchange, parts, *to);
}

// Nothing that was sent is used: it travelled for everybody to read.
Status refuse_plain(net::Task& task, NotedExchange& exchange, const ServerParts&) {
  exchange.note().route = "plain";
  exchange.note().path.clear();
  return e2b::respond_http_error(
      task, exchange, 400,
      "plain HTTP to a port that speaks TLS; take https:// in the place of http://, and trust what "
      "`paddock tls ca` names. An API key that was sent with it may have been read by others");
}

// Whoever can open the socket runs the server, or is root.
Status serve_keeper(net::Task& task, NotedExchange& exchange, const ServerParts& parts) {
  const std::string_view path = exchange.request().path();
  if (path == "/health") return serve_health(task, exchange, parts);
  if (path == "/metrics") return answer_metrics(task, exchange, parts);
  const model::Caller keeper{{}, "", model::Caller::Sees::all};
  exchange.note().caller = keeper;
  if (Status recorded = check_recorded(parts); !recorded.ok()) {
    return own::answer_error(task, exchange, 503, recorded.error());
  }
  if (own::is_own_path(path)) return own::serve(task, exchange, parts, keeper);
  exchange.note().route = "control";
  return e2b::serve_control(
      task, exchange,
      {parts.sandboxes, parts.tokens, parts.settings, parts.secrets, parts.builder, keeper});
}

RequestNote note_of(const net::http::RequestHead& request) {
  RequestNote note;
  note.method = request.method;
  note.path = request.path();
  note.began_us = sys::monotonic_us();
  return note;
}

using Serve = Status (*)(net::Task&, NotedExchange&, const ServerParts&);

net::http::Handler noted(const ServerParts& parts, Serve serve_one) {
  return [parts, serve_one](net::Task& task, Exchange& exchange) {
    NotedExchange noting(exchange, note_of(exchange.request()),
                         [&](const RequestNote& note) { parts.telemetry.on_stream(note); });
    // What fails here is the connection: its end is all that can be said.
    const Status served = serve_one(task, noting, parts);
    if (!served.ok()) noting.note_failure(to_string(served.error().code()));
    parts.telemetry.on_request(noting.note());
  };
}

}  // namespace

net::http::Handler make_handler(const ServerParts& parts) {
  return noted(parts, serve);
}

net::http::Handler make_plain_handler(const ServerParts& parts) {
  return noted(parts, refuse_plain);
}

net::http::Handler make_keeper_handler(const ServerParts& parts) {
  return noted(parts, serve_keeper);
}

}  // namespace paddock::api
