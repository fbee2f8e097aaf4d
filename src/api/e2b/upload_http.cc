#include "api/e2b/upload_http.h"

#include <fmt/core.h>

#include <cerrno>
#include <utility>

#include "api/e2b/files_http.h"
#include "base/strings.h"
#include "sys/clock.h"

namespace paddock::api::e2b {
namespace {

constexpr int64_t kGoodSeconds = 3600;
constexpr size_t kUploadPiece = 256u << 10;
constexpr const char* kKeeper = "keeper";

std::string signature_of(const UploadLink& link, const AccessTokens& tokens) {
  // No sandbox has such an id.
  return tokens.of(
      fmt::format("upload of {} by {} until {}", link.hash, link.owner, link.expires_s));
}

Error no_link() {
  return Error(Code::permission_denied, "this link is none of ours, or its time is up")
      .set_remedy("ask for another one: build again");
}

Result<model::Owner> owner_of(const UploadLink& link) {
  model::Owner owner;
  if (link.owner != kKeeper) owner.key = PD_TRY(model::KeyId::parse(link.owner));
  return owner;
}

Status take_body(net::Task& task, net::http::Exchange& exchange,
                 engine::Uploads::Writing& writing) {
  std::string piece(kUploadPiece, '\0');
  while (true) {
    const size_t count = PD_TRY(exchange.read_body(task, piece));
    if (count == 0) return writing.commit(task);
    PD_TRY(writing.add(task, std::string_view(piece).substr(0, count)));
  }
}

Status fail_upload(net::Task& task, net::http::Exchange& exchange, const Error& error) {
  std::string message = error.describe();
  if (!error.remedy().empty()) message += "; " + error.remedy();
  int status = files_status(error);
  if (error.code() == Code::resource_exhausted && error.errno_value() == 0) status = 413;
  return respond_http_error(task, exchange, status, message);
}

}  // namespace

std::string link_text(const UploadLink& link, const AccessTokens& tokens) {
  return fmt::format("{}{}/{}?expires={}&signature={}", kUploadPath, link.owner, link.hash,
                     link.expires_s, signature_of(link, tokens));
}

Result<UploadLink> read_link(std::string_view target, const AccessTokens& tokens, int64_t now_s) {
  const size_t question = target.find('?');
  if (!target.starts_with(kUploadPath) || question == std::string_view::npos) return no_link();
  const std::vector<std::string> path =
      split(target.substr(kUploadPath.size(), question - kUploadPath.size()), '/');
  UploadLink link;
  std::string given;
  for (const auto& [name, value] : net::http::parse_query(target.substr(question + 1))) {
    if (name == "expires") link.expires_s = static_cast<int64_t>(parse_u64(value).value_or(0));
    if (name == "signature") given = value;
  }
  if (path.size() != 2) return no_link();
  link.owner = path[0];
  link.hash = path[1];
  const bool is_good = equal_in_constant_time(given, signature_of(link, tokens));
  if (!is_good || link.expires_s < now_s || !engine::is_files_hash(link.hash)) return no_link();
  return link;
}

std::string upload_url(const ControlRequest& request, const engine::UploadName& name) {
  const std::string key = name.owner.key.str();
  const UploadLink link{key.empty() ? kKeeper : key, name.hash,
                        sys::wall_clock_ms() / 1000 + kGoodSeconds};
  const std::string scheme = request.options.settings.has_tls() ? "https://" : "http://";
  return scheme + std::string(request.exchange.request().headers.get("host")) +
         link_text(link, request.options.tokens);
}

Status serve_upload(net::Task& task, net::http::Exchange& exchange, engine::Uploads& uploads,
                    const AccessTokens& tokens) {
  const net::http::RequestHead& request = exchange.request();
  if (request.method != "PUT") return respond_http_error(task, exchange, 405, "uploads are PUT");
  auto link = read_link(request.target, tokens, sys::wall_clock_ms() / 1000);
  if (!link.ok()) return fail_upload(task, exchange, link.error());
  auto owner = owner_of(*link);
  if (!owner.ok()) return fail_upload(task, exchange, owner.error());
  const auto length = parse_u64(request.headers.get("content-length"));
  if (!length) return respond_http_error(task, exchange, 411, "Content-Length is missing");
  auto writing = uploads.begin(task, {*owner, link->hash}, *length);
  if (!writing.ok()) return fail_upload(task, exchange, writing.error());
  const Status taken = take_body(task, exchange, **writing);
  if (!taken.ok()) return fail_upload(task, exchange, Status(taken).error());
  return exchange.respond(task, {200, {}, ""});
}

}  // namespace paddock::api::e2b
