// How each kind of credential gets on a request. A program that sends something of its own in the
// same place keeps it: only an absent value or the placeholder is replaced.
#include <fmt/core.h>

#include "base/base64.h"
#include "base/strings.h"
#include "egress/credentials/credential_set.h"
#include "egress/credentials/scanner.h"
#include "egress/rules/path_forms.h"

namespace paddock::egress {
namespace {

using model::Credential;
using model::CredentialKind;

bool holds(const std::shared_ptr<const PatternSet>& patterns, std::string_view text) {
  return Scanner::find(patterns, text).has_value();
}

std::string query_escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

// The user that a Basic value of the program names; empty when it is none.
std::string user_of(std::string_view value) {
  if (http::lower_case(value.substr(0, 6)) != "basic ") return {};
  auto decoded = base64_decode(trim(value.substr(6)));
  if (!decoded.ok()) return {};
  return decoded->substr(0, decoded->find(':'));
}

}  // namespace

Status CredentialSet::put_on(const Entry& entry, http::Request& request, Injection& injection) {
  switch (entry.loaded.source.kind) {
    case CredentialKind::header:
      return put_on_header(entry, request, injection);
    case CredentialKind::basic:
    case CredentialKind::git:
      return put_on_basic(entry, request, injection);
    case CredentialKind::query:
      return put_on_query(entry, request, injection);
    case CredentialKind::sigv4:
      return put_on_sigv4(entry, request, injection);
    case CredentialKind::ssh:  // no part of a request
      return {};
  }
  return {};
}

Status CredentialSet::put_on_header(const Entry& entry, http::Request& request,
                                    Injection& injection) {
  const Credential& source = entry.loaded.source;
  const std::string name = http::lower_case(source.header);
  const http::Field* present = http::find_field(request.fields, name);
  const bool keeps = source.own_value == model::OwnValue::kept;
  if (keeps && present != nullptr && !holds(entry.own, present->value)) return {};
  std::string value = source.form;
  value.replace(value.find(kSecretSlot), kSecretSlot.size(), entry.loaded.secret.reveal());
  http::set_field(request.fields, name, std::move(value));
  injection.credentials.push_back(source.name);
  return {};
}

// Git sends a user of any name with a token; one that the policy names wins.
Status CredentialSet::put_on_basic(const Entry& entry, http::Request& request,
                                   Injection& injection) {
  const Credential& source = entry.loaded.source;
  const http::Field* present = http::find_field(request.fields, "authorization");
  if (present != nullptr && !holds(entry.own, present->value)) return {};
  std::string user = source.user;
  if (user.empty() && present != nullptr) user = user_of(present->value);
  if (user.empty() || holds(entry.own, user)) user = "x-access-token";
  std::string pair = user + ":" + std::string(entry.loaded.secret.reveal());
  http::set_field(request.fields, "authorization", "Basic " + base64_encode(pair));
  wipe(pair);
  injection.credentials.push_back(source.name);
  return {};
}

Status CredentialSet::put_on_query(const Entry& entry, http::Request& request,
                                   Injection& injection) {
  const Credential& source = entry.loaded.source;
  const std::string value = query_escaped(entry.loaded.secret.reveal());
  std::vector<std::string> parts;
  bool placed = false;
  for (const std::string& part : split(request.query(), '&')) {
    const size_t equals = std::min(part.find('='), part.size());
    if (percent_decoded(std::string_view(part).substr(0, equals)) != source.parameter) {
      if (!part.empty()) parts.push_back(part);
      continue;
    }
    if (!holds(entry.own, part)) return {};
    parts.push_back(part.substr(0, equals) + "=" + value);
    placed = true;
  }
  if (!placed) parts.push_back(query_escaped(source.parameter) + "=" + value);
  request.target = std::string(request.path()) + "?" + join(parts, "&");
  injection.credentials.push_back(source.name);
  return {};
}

Status CredentialSet::put_on_sigv4(const Entry& entry, http::Request& request,
                                   Injection& injection) {
  auto claim =
      PD_TRY_CTX(fmt::format("credential {}", entry.loaded.source.name), find_sigv4(request));
  if (!claim || claim->key_id != entry.key_id_placeholder) return {};
  injection.credentials.push_back(entry.loaded.source.name);
  injection.sigv4 = std::move(*claim);
  injection.aws_key = &*entry.aws_key;
  // The real signature comes last; until then the place is empty, so that no placeholder strays.
  if (injection.sigv4->place == SigV4Place::header) {
    http::set_field(request.fields, "authorization", "");
  } else {
    const size_t at = request.target.find("X-Amz-Credential=");
    const size_t end = std::min(request.target.find('&', at), request.target.size());
    request.target.replace(at, end - at, "X-Amz-Credential=");
  }
  return {};
}

}  // namespace paddock::egress
