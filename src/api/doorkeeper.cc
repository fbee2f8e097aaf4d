#include "api/doorkeeper.h"

namespace paddock::api {

Result<bool> Doorkeeper::takes_any() {
  if (rule_ == Rule::required) return false;
  return !PD_TRY(keys_.has_keys());
}

Result<std::optional<model::Caller>> Doorkeeper::caller(const net::http::RequestHead& request) {
  const std::string_view shown = request.headers.get("x-api-key");
  if (shown.empty()) return std::optional<model::Caller>();
  if (PD_TRY(takes_any())) return std::optional(model::Caller{});
  const auto key = PD_TRY(keys_.find(shown));
  if (!key || key->scope != service::KeyScope::sandboxes) return std::optional<model::Caller>();
  return std::optional(model::Caller{{key->id}, key->label, model::Caller::Sees::own});
}

Result<bool> Doorkeeper::may_read_metrics(const net::http::RequestHead& request) {
  if (PD_TRY(takes_any())) return true;
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view token = request.headers.get("authorization");
  const std::string_view shown =
      token.starts_with(kBearer) ? token.substr(kBearer.size()) : request.headers.get("x-api-key");
  const auto key = PD_TRY(keys_.find(shown));
  return key && key->scope == service::KeyScope::metrics;
}

}  // namespace paddock::api
