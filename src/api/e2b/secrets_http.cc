#include "api/e2b/secrets_http.h"

#include <algorithm>

#include "api/e2b/envd.h"
#include "api/e2b/json.h"
#include "base/strings.h"

namespace paddock::api::e2b {
namespace {

using boost::json::object;
using net::http::Exchange;

constexpr size_t kMaxSecretBody = 64u << 10;
constexpr size_t kMaxSecretsListed = 100;

object secret_json(const SecretRow& row) {
  object out, metadata;
  for (const auto& [key, value] : row.metadata) metadata[key] = value;
  out["secretID"] = row.id;
  out["name"] = row.name;
  out["currentVersion"] = row.version;
  out["metadata"] = std::move(metadata);
  out["createdAt"] = timestamp(row.created_ms);
  out["updatedAt"] = timestamp(row.updated_ms);
  return out;
}

Status fail(net::Task& task, Exchange& exchange, const Error& error) {
  std::string message = error.describe();
  if (!error.remedy().empty()) message += "; " + error.remedy();
  const int status = error.code() == Code::resource_exhausted ? 429 : http_status(error.code());
  return respond_http_error(task, exchange, status, message);
}

struct Body {
  std::string name;
  SecretBook::Change change;
};

Result<Body> read_body(net::Task& task, Exchange& exchange) {
  const std::string text = PD_TRY(exchange.read_whole_body(task, kMaxSecretBody));
  const object fields = PD_TRY(parse_object(text));
  Body body;
  body.name = PD_TRY(text_field(fields, "name")).value_or("");
  const auto value = PD_TRY(text_field(fields, "value"));
  if (!value) return Error(Code::invalid_argument, "'value' is missing");
  body.change = {*value, PD_TRY(map_field(fields, "metadata"))};
  return body;
}

Status create(net::Task& task, Exchange& exchange, const SecretsOf& secrets) {
  auto body = read_body(task, exchange);
  if (!body.ok()) return fail(task, exchange, body.error());
  auto row = secrets.book.create(secrets.caller, body->name, std::move(body->change));
  if (!row.ok()) return fail(task, exchange, row.error());
  return respond_json(task, exchange, 201, secret_json(*row));
}

Status replace(net::Task& task, Exchange& exchange, const std::string& key,
               const SecretsOf& secrets) {
  auto body = read_body(task, exchange);
  if (!body.ok()) return fail(task, exchange, body.error());
  auto row = secrets.book.replace(secrets.caller, key, std::move(body->change));
  if (!row.ok()) return fail(task, exchange, row.error());
  return respond_json(task, exchange, 200, secret_json(*row));
}

// Ordered by name; the token is the last name of the page before.
Status list(net::Task& task, Exchange& exchange, const SecretsOf& secrets) {
  const Query query = query_of(exchange.request());
  auto value = [&](const char* name) {
    auto found = query.find(name);
    return found == query.end() ? std::string() : found->second;
  };
  const auto limit = value("limit").empty() ? std::optional<uint64_t>(kMaxSecretsListed)
                                            : parse_u64(value("limit"));
  if (!limit || *limit == 0 || *limit > kMaxSecretsListed) {
    return respond_http_error(task, exchange, 400, "'limit' must be 1 to 100");
  }
  auto rows = secrets.book.list(secrets.caller);
  if (!rows.ok()) return fail(task, exchange, rows.error());
  const std::string after = value("nextToken");
  std::erase_if(*rows, [&](const SecretRow& row) { return row.name <= after; });
  net::http::Response response{200, {{"Content-Type", "application/json"}}, ""};
  if (rows->size() > *limit) {
    rows->resize(*limit);
    response.headers.add("X-Next-Token", rows->back().name);
  }
  boost::json::array out;
  for (const SecretRow& row : *rows) out.emplace_back(secret_json(row));
  response.body = boost::json::serialize(out);
  return exchange.respond(task, response);
}

}  // namespace

Status serve_secrets(net::Task& task, Exchange& exchange, const std::vector<std::string>& path,
                     const SecretsOf& secrets) {
  const std::string& method = exchange.request().method;
  if (path.size() == 1) {
    if (method == "POST") return create(task, exchange, secrets);
    if (method == "GET") return list(task, exchange, secrets);
    return respond_http_error(task, exchange, 405, "/secrets knows GET and POST");
  }
  if (path.size() > 2) return respond_http_error(task, exchange, 404, "no such endpoint");
  if (method == "POST") return replace(task, exchange, path[1], secrets);
  if (method == "GET") {
    auto row = secrets.book.find(secrets.caller, path[1]);
    if (!row.ok()) return fail(task, exchange, row.error());
    return respond_json(task, exchange, 200, secret_json(*row));
  }
  if (method == "DELETE") {
    Status removed = secrets.book.remove(secrets.caller, path[1]);
    if (!removed.ok()) return fail(task, exchange, removed.error());
    return exchange.respond(task, {204, {}, ""});
  }
  return respond_http_error(task, exchange, 405, "a secret knows GET, POST and DELETE");
}

}  // namespace paddock::api::e2b
