#include "api/e2b/envd.h"

#include <optional>
#include <utility>

#include "base/base64.h"
#include "base/strings.h"
#include "sys/clock.h"

namespace paddock::api::e2b {
namespace {

constexpr std::string_view kProcess = "/process.Process/";
constexpr std::string_view kFilesystem = "/filesystem.Filesystem/";

bool is_rpc(std::string_view path) {
  return path.starts_with(kProcess) || path.starts_with(kFilesystem);
}

// Envd's three kinds of errors, by who asks.
Status refuse(const Call& call, const ConnectError& error) {
  if (call.exchange.request().headers.get("content-type").starts_with("application/connect+")) {
    EventStream stream(call);
    PD_TRY(stream.begin());
    return stream.end(error);
  }
  if (is_rpc(call.exchange.request().path())) {
    return respond_error(call.task, call.exchange, error);
  }
  return respond_http_error(call.task, call.exchange, http_status(error.code), error.message);
}

// Basic authentication without a password names the user of a call, the query that of a file.
std::string user_of(const net::http::RequestHead& request, const Query& query) {
  const std::string named = value_of(query, "username");
  if (!named.empty()) return named;
  const std::string_view header = request.headers.get("authorization");
  if (!header.starts_with("Basic ")) return "";
  auto decoded = base64_decode(trim(header.substr(6)));
  return decoded.ok() ? decoded->substr(0, decoded->find(':')) : "";
}

// Sets whom the call is for.
std::optional<ConnectError> name_user(Call& call, const Query& query) {
  const std::string name = user_of(call.exchange.request(), query);
  // The one user of the template is `user` to clients, whatever it is called inside.
  const engine::LiveSetup& setup = call.sandbox->setup();
  const bool is_own = name == "user" && setup.users == isolation::Users::one;
  auto user = engine::find_guest_user(call.task, *call.sandbox, is_own ? "" : name);
  if (user.ok()) {
    call.user = std::move(*user);
    return std::nullopt;
  }
  if (user.error().code() == Code::not_found) {
    return ConnectError{ConnectCode::unauthenticated,
                        "invalid username: '" + printable(name.substr(0, 100)) + "'"};
  }
  ConnectError error = connect_error(user.error());
  if (!user.error().remedy().empty()) error.message += "; " + user.error().remedy();
  return error;
}

std::optional<ConnectError> check_access(const Call& call, const Query& query,
                                         const std::string& token) {
  const net::http::RequestHead& request = call.exchange.request();
  const std::string_view given = request.headers.get("x-access-token");
  if (!given.empty() && equal_in_constant_time(given, token)) return std::nullopt;
  auto refused = [](std::string why) {
    return ConnectError{ConnectCode::unauthenticated, std::move(why)};
  };
  // A wrong token is wrong even beside a good signature.
  if (!given.empty() || request.path() != "/files") {
    return refused("unauthorized access, please provide a valid access token");
  }
  switch (check_signature(request, query, token)) {
    case Signed::yes:
      return std::nullopt;
    case Signed::expired:
      return refused("signature is already expired");
    case Signed::no:
      break;
  }
  return refused(value_of(query, "signature").empty() ? "missing signature query parameter"
                                                      : "invalid signature");
}

Status serve_files(const Call& call, const Query& query) {
  const std::string& method = call.exchange.request().method;
  if (method == "GET" || method == "HEAD") return download(call, query);
  if (method == "POST") return upload(call, query);
  return respond_http_error(call.task, call.exchange, 405, "/files knows GET and POST");
}

Status serve_environment(const Call& call) {
  boost::json::object out;
  for (const auto& [name, value] : call.sandbox->setup().environment) out[name] = value;
  return respond_json(call.task, call.exchange, 200, out);
}

}  // namespace

Query query_of(const net::http::RequestHead& request) {
  Query query;
  for (auto& [name, value] : net::http::parse_query(request.query())) {
    query.emplace(std::move(name), std::move(value));  // the first of a name counts
  }
  return query;
}

Signed check_signature(const net::http::RequestHead& request, const Query& query,
                       const std::string& token) {
  const std::string given = value_of(query, "signature");
  if (given.empty()) return Signed::no;
  SignedUrl url;
  url.path = value_of(query, "path");
  url.operation = request.method == "POST" ? "write" : "read";
  url.user = value_of(query, "username");
  const std::string expires = value_of(query, "signature_expiration");
  if (!expires.empty()) {
    const auto seconds = parse_u64(expires);
    if (!seconds) return Signed::no;
    url.expires = static_cast<int64_t>(*seconds);
  }
  if (!equal_in_constant_time(given, signature_of(url, token))) return Signed::no;
  if (url.expires && *url.expires < sys::wall_clock_ms() / 1000) return Signed::expired;
  return Signed::yes;
}

Status serve_envd(const Call& asked, const AccessTokens& tokens) {
  Call call = asked;
  const net::http::RequestHead& request = call.exchange.request();
  const std::string_view path = request.path();
  if (path == "/health") return call.exchange.respond(call.task, {204, {}, ""});
  const Query query = query_of(request);
  if (auto error = check_access(call, query, tokens.of(call.sandbox->id()))) {
    return refuse(call, *error);
  }
  if (auto error = name_user(call, query)) return refuse(call, *error);
  if (path == "/files") return serve_files(call, query);
  if (path == "/envs" && request.method == "GET") return serve_environment(call);
  if (is_rpc(path)) {
    if (request.method != "POST") {
      return respond_http_error(call.task, call.exchange, 405, "calls are made by POST");
    }
    if (path.starts_with(kProcess)) return serve_process(call, path.substr(kProcess.size()));
    return serve_filesystem(call, path.substr(kFilesystem.size()));
  }
  return respond_http_error(call.task, call.exchange, 404, "no such endpoint");
}

}  // namespace paddock::api::e2b
