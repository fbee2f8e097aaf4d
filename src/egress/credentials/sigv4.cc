#include "egress/credentials/sigv4.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/strings.h"
#include "egress/credentials/hmac.h"
#include "egress/rules/path_forms.h"
#include "sys/digest.h"

namespace paddock::egress {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
using Pair = std::pair<std::string, std::string>;

Error corrupt_signature(std::string_view why) {
  return Error(Code::data_corrupt, fmt::format("signature of the request: {}", why));
}

std::string uri_encoded(std::string_view text) {
  std::string out;
  for (char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

// Parameters decoded, in order; unlike forms, '+' is a plus.
std::vector<Pair> parameters_of(std::string_view query) {
  std::vector<Pair> out;
  if (query.empty()) return out;
  for (const std::string& part : split(query, '&')) {
    const size_t equals = part.find('=');
    std::string value = equals == std::string::npos ? "" : percent_decoded(part.substr(equals + 1));
    out.emplace_back(percent_decoded(part.substr(0, equals)), std::move(value));
  }
  return out;
}

std::string query_of(const std::vector<Pair>& parameters) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : parameters)
    parts.push_back(uri_encoded(name) + "=" + uri_encoded(value));
  return join(parts, "&");
}

const std::string* find_parameter(const std::vector<Pair>& parameters, std::string_view name) {
  for (const Pair& pair : parameters) {
    if (pair.first == name) return &pair.second;
  }
  return nullptr;
}

// "KEY/20130524/us-east-1/s3/aws4_request".
Status read_scope(std::string_view credential, SigV4Claim& claim) {
  const std::vector<std::string> parts = split(credential, '/');
  if (parts.size() < 5 || parts.back() != "aws4_request")
    return corrupt_signature("malformed scope");
  const size_t scope = parts.size() - 4;
  claim.date = parts[scope];
  claim.region = parts[scope + 1];
  claim.service = parts[scope + 2];
  claim.key_id = join({parts.begin(), parts.begin() + static_cast<ptrdiff_t>(scope)}, "/");
  return {};
}

Status check_claim(const SigV4Claim& claim) {
  const bool timed =
      claim.time.size() == 16 && claim.time.starts_with(claim.date) && claim.date.size() == 8;
  if (!timed) return corrupt_signature("its time does not fit its scope");
  if (std::find(claim.signed_headers.begin(), claim.signed_headers.end(), "host") ==
      claim.signed_headers.end()) {
    return corrupt_signature("the host is not signed");
  }
  return {};
}

Result<SigV4Claim> claim_of_header(const http::Request& request, std::string_view value) {
  SigV4Claim claim;
  for (const std::string& part : split(value.substr(kAlgorithm.size()), ',')) {
    const std::string_view text = trim(part);
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) return corrupt_signature("malformed");
    const std::string_view name = text.substr(0, equals);
    if (name == "Credential") PD_TRY(read_scope(text.substr(equals + 1), claim));
    if (name == "SignedHeaders") claim.signed_headers = split(text.substr(equals + 1), ';');
  }
  if (const auto* time = http::find_field(request.fields, "x-amz-date")) claim.time = time->value;
  PD_TRY(check_claim(claim));
  return claim;
}

Result<SigV4Claim> claim_of_query(const std::vector<Pair>& parameters) {
  SigV4Claim claim{.place = SigV4Place::query};
  const std::string* credential = find_parameter(parameters, "X-Amz-Credential");
  const std::string* time = find_parameter(parameters, "X-Amz-Date");
  const std::string* headers = find_parameter(parameters, "X-Amz-SignedHeaders");
  if (credential == nullptr || time == nullptr || headers == nullptr)
    return corrupt_signature("incomplete");
  PD_TRY(read_scope(*credential, claim));
  claim.time = *time;
  claim.signed_headers = split(*headers, ';');
  PD_TRY(check_claim(claim));
  return claim;
}

bool is_s3(const SigV4Claim& claim) {
  return claim.service.starts_with("s3");
}

// S3 signs the path as it is sent; every other service the path resolved and encoded once more.
std::string canonical_path(const http::Request& request, const SigV4Claim& claim) {
  const std::string_view path = request.path();
  if (is_s3(claim)) return std::string(path);
  std::vector<std::string> kept;
  bool directory = false;
  for (const std::string& segment : split(path, '/')) {
    directory = segment.empty() || segment == "." || segment == "..";
    if (segment == ".." && !kept.empty()) kept.pop_back();
    if (!directory) kept.push_back(uri_encoded(segment));
  }
  std::string out = "/" + join(kept, "/");
  return directory && out.size() > 1 ? out + "/" : out;
}

std::string canonical_query(std::vector<Pair> parameters) {
  std::erase_if(parameters, [](const Pair& pair) { return pair.first == "X-Amz-Signature"; });
  for (auto& [name, value] : parameters) {
    name = uri_encoded(name);
    value = uri_encoded(value);
  }
  std::sort(parameters.begin(), parameters.end());
  std::vector<std::string> parts;
  for (const auto& [name, value] : parameters) parts.push_back(name + "=" + value);
  return join(parts, "&");
}

// Runs of blanks count as one.
std::string collapsed(std::string_view value) {
  std::string out;
  for (char c : trim(value)) {
    if (c != ' ' || !out.ends_with(' ')) out += c;
  }
  return out;
}

std::string canonical_headers(const http::Request& request, const SigV4Claim& claim) {
  std::string out;
  for (const std::string& name : claim.signed_headers) {
    std::vector<std::string> values;
    if (name == "host") values.push_back(request.authority);
    for (const http::Field& field : request.fields) {
      if (field.name == name) values.push_back(collapsed(field.value));
    }
    out += name + ":" + join(values, ",") + "\n";
  }
  return out;
}

std::string payload_hash(const http::Request& request, const SigV4Claim& claim,
                         std::string_view body_hash) {
  const auto* declared = http::find_field(request.fields, "x-amz-content-sha256");
  if (declared != nullptr) return declared->value;
  return claim.place == SigV4Place::query && is_s3(claim) ? "UNSIGNED-PAYLOAD"
                                                          : std::string(body_hash);
}

std::string signing_key(const SigV4Claim& claim, const AwsKey& key) {
  std::string seed = "AWS4" + std::string(key.key.reveal());
  std::string out = hmac_sha256(seed, claim.date);
  wipe(seed);
  for (std::string_view part : {std::string_view(claim.region), std::string_view(claim.service),
                                std::string_view("aws4_request")}) {
    out = hmac_sha256(out, part);
  }
  return out;
}

void set_parameter(std::vector<Pair>& parameters, std::string_view name, std::string value) {
  for (Pair& pair : parameters) {
    if (pair.first != name) continue;
    pair.second = std::move(value);
    return;
  }
  parameters.emplace_back(name, std::move(value));
}

}  // namespace

Result<std::optional<SigV4Claim>> find_sigv4(const http::Request& request) {
  const auto* field = http::find_field(request.fields, "authorization");
  if (field != nullptr && field->value.starts_with(std::string(kAlgorithm) + " ")) {
    return std::optional(PD_TRY(claim_of_header(request, field->value)));
  }
  const std::vector<Pair> parameters = parameters_of(request.query());
  const std::string* algorithm = find_parameter(parameters, "X-Amz-Algorithm");
  if (algorithm == nullptr || *algorithm != kAlgorithm) return std::optional<SigV4Claim>();
  return std::optional(PD_TRY(claim_of_query(parameters)));
}

SigV4Payload payload_of(const http::Request& request, const SigV4Claim& claim) {
  const auto* declared = http::find_field(request.fields, "x-amz-content-sha256");
  if (declared != nullptr) {
    return declared->value.starts_with("STREAMING-AWS4-HMAC-SHA256-PAYLOAD")
               ? SigV4Payload::in_chunks
               : SigV4Payload::declared;
  }
  return claim.place == SigV4Place::query && is_s3(claim) ? SigV4Payload::declared
                                                          : SigV4Payload::of_body;
}

SigV4Signature sign_again(http::Request& request, const SigV4Claim& claim, const AwsKey& key,
                          std::string_view body_hash) {
  const std::string credential = fmt::format("{}/{}", key.id.reveal(), claim.scope());
  std::vector<Pair> parameters = parameters_of(request.query());
  if (claim.place == SigV4Place::query) set_parameter(parameters, "X-Amz-Credential", credential);
  const std::string canonical =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, canonical_path(request, claim),
                  canonical_query(parameters), canonical_headers(request, claim),
                  join(claim.signed_headers, ";"), payload_hash(request, claim, body_hash));
  const std::string to_sign = fmt::format("{}\n{}\n{}\n{}", kAlgorithm, claim.time, claim.scope(),
                                          sys::sha256_hex(canonical));
  SigV4Signature out{.hex = {},
                     .signing_key = signing_key(claim, key),
                     .time = claim.time,
                     .scope = claim.scope()};
  out.hex = to_hex(hmac_sha256(out.signing_key, to_sign));
  if (claim.place == SigV4Place::query) {
    set_parameter(parameters, "X-Amz-Signature", out.hex);
    request.target = std::string(request.path()) + "?" + query_of(parameters);
  } else {
    http::set_field(request.fields, "authorization",
                    fmt::format("{} Credential={},SignedHeaders={},Signature={}", kAlgorithm,
                                credential, join(claim.signed_headers, ";"), out.hex));
  }
  return out;
}

}  // namespace paddock::egress
