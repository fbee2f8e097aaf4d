#include "egress/presets/url.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/strings.h"
#include "egress/http/message.h"
#include "egress/names/host_name.h"
#include "egress/rules/path_forms.h"

namespace paddock::egress {
namespace {

uint16_t usual_port(std::string_view scheme) {
  if (scheme == "https") return 443;
  if (scheme == "http") return 80;
  return scheme == "ssh" ? 22 : 0;
}

// "git@host:path": no "//", and the colon comes before any slash.
std::string spelled_out(std::string_view text) {
  const size_t colon = text.find(':');
  const bool is_short = text.find("://") == std::string_view::npos &&
                        colon != std::string_view::npos && colon > 0 && text.find('/') > colon &&
                        text.find('@') < colon;
  if (!is_short) return std::string(text);
  return fmt::format("ssh://{}/{}", text.substr(0, colon), text.substr(colon + 1));
}

void take_user(std::string_view& authority, ServerUrl& url) {
  const size_t at = authority.rfind('@');
  if (at == std::string_view::npos) return;
  const std::string_view info = authority.substr(0, at);
  const size_t colon = std::min(info.find(':'), info.size());
  url.user = percent_decoded(info.substr(0, colon));
  if (colon < info.size()) url.password = percent_decoded(info.substr(colon + 1));
  authority.remove_prefix(at + 1);
}

}  // namespace

std::optional<ServerUrl> parse_server_url(std::string_view given) {
  const std::string text = spelled_out(trim(given));
  const size_t end = text.find("://");
  if (end == std::string::npos) return std::nullopt;
  ServerUrl url;
  url.scheme = http::lower_case(text.substr(0, end));
  for (const char* wrapper : {"sparse+", "git+"}) {
    if (url.scheme.starts_with(wrapper)) url.scheme.erase(0, std::string_view(wrapper).size());
  }
  if (usual_port(url.scheme) == 0) return std::nullopt;
  const std::string_view rest = std::string_view(text).substr(end + 3);
  const size_t slash = std::min(rest.find_first_of("/?#"), rest.size());
  std::string_view authority = rest.substr(0, slash);
  url.path = rest.substr(slash);
  take_user(authority, url);
  const auto parsed = parse_authority(authority);
  if (!parsed.ok()) return std::nullopt;
  url.host = to_string(parsed->host);
  url.port = parsed->port.value_or(usual_port(url.scheme));
  url.plain = fmt::format("{}://{}{}", text.substr(0, end), authority, url.path);
  return url;
}

model::EgressRule rule_for(const ServerUrl& url, std::string name) {
  model::EgressRule rule;
  rule.name = std::move(name);
  rule.action = model::EgressAction::allow;
  const auto host = parse_host(url.host);
  const bool literal = host.ok() && std::holds_alternative<model::IpAddress>(*host);
  (literal ? rule.addresses : rule.hosts) = model::TextList{url.host};
  rule.ports = model::TextList{std::to_string(url.port)};
  if (url.scheme == "ssh") rule.protocol = model::EgressProtocol::ssh;
  return rule;
}

}  // namespace paddock::egress
