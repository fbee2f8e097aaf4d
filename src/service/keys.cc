#include "service/keys.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/strings.h"
#include "sys/clock.h"
#include "sys/digest.h"
#include "sys/random.h"

namespace paddock::service {
namespace {

constexpr size_t kSecretBytes = 20;
constexpr size_t kMaxLabel = 64;
constexpr size_t kShortestPrefix = 4;
// The form that clients of E2B's SDK insist on.
constexpr std::string_view kSecretPrefix = "e2b_";

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return out;
}

// A secret is 160 bits of entropy: nothing slower than one hash is needed to keep it.
std::string hash_of(std::string_view secret) {
  return sys::sha256_hex("paddock api key\n" + std::string(secret));
}

Status check_label(const std::string& label) {
  const bool fits = !label.empty() && label.size() <= kMaxLabel && is_valid_utf8(label);
  if (fits && printable(label) == label) return {};
  return Error(Code::invalid_argument,
               fmt::format("a label is 1 to {} printable bytes without a backslash, not '{}'",
                           kMaxLabel, printable(label.substr(0, kMaxLabel))));
}

Result<ApiKey> key_of(const store::Row& row) {
  ApiKey key;
  key.id = PD_TRY(model::KeyId::parse(row.text(0)));
  key.label = row.text(1);
  key.created_ms = row.integer(2);
  key.revoked_ms = row.integer(3);
  const auto scope = value_of(kKeyScopeNames, row.text(4));
  if (!scope) return Error(Code::data_corrupt, "an API key of no known scope");
  key.scope = *scope;
  return key;
}

bool is_named(const ApiKey& key, const std::string& name) {
  if (name.size() >= kShortestPrefix && key.id.str().starts_with(name)) return true;
  return key.label == name && key.revoked_ms == 0;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  unsigned char different = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    different = static_cast<unsigned char>(different | (a[i] ^ b[i]));
  }
  return different == 0;
}

}  // namespace

Result<NewKey> Keys::create(const std::string& label, KeyScope scope) {
  PD_TRY(check_label(label));
  NewKey made;
  made.key.id = model::KeyId::from_entropy(sys::random_bytes(16));
  made.key.label = label;
  made.key.scope = scope;
  made.key.created_ms = sys::wall_clock_ms();
  made.secret = std::string(kSecretPrefix) + hex(sys::random_bytes(kSecretBytes));
  PD_TRY_CTX("keeping an API key",
             database_.execute(
                 "INSERT INTO api_key (id, label, scope, hash, created_ms) VALUES (?, ?, ?, ?, ?)",
                 {made.key.id.str(), label, std::string(name_of(kKeyScopeNames, scope)),
                  hash_of(made.secret), made.key.created_ms}));
  return made;
}

Result<std::vector<ApiKey>> Keys::list() {
  std::vector<ApiKey> out;
  for (const store::Row& row : PD_TRY(
           database_.query("SELECT id, label, created_ms, revoked_ms, scope FROM api_key ORDER BY "
                           "created_ms DESC, id"))) {
    out.push_back(PD_TRY(key_of(row)));
  }
  return out;
}

Result<ApiKey> Keys::revoke(const std::string& name) {
  std::vector<ApiKey> named;
  for (ApiKey& key : PD_TRY(list())) {
    if (is_named(key, name)) named.push_back(std::move(key));
  }
  if (named.empty()) {
    return Error(Code::not_found, fmt::format("no API key '{}'", printable(name)))
        .set_remedy("`paddock key ls` lists them");
  }
  if (named.size() > 1) {
    return Error(Code::conflict, fmt::format("'{}' names several API keys", printable(name)))
        .set_remedy("name one by its id: `paddock key ls` lists them");
  }
  ApiKey key = std::move(named.front());
  if (key.revoked_ms != 0) {
    return Error(Code::failed_precondition, "API key " + key.id.str() + " is revoked already");
  }
  key.revoked_ms = sys::wall_clock_ms();
  PD_TRY_CTX("revoking an API key",
             database_.execute("UPDATE api_key SET revoked_ms = ? WHERE id = ?",
                               {key.revoked_ms, key.id.str()}));
  return key;
}

Status KeyRing::refresh() {
  const auto versions = PD_TRY(database_.query("PRAGMA data_version"));
  if (versions.empty()) return Error(Code::internal, "the database has no version");
  const int64_t version = versions.front().integer(0);
  if (version == version_) return {};
  std::vector<Entry> entries;
  for (const store::Row& row : PD_TRY(
           database_.query("SELECT id, label, created_ms, revoked_ms, scope, hash FROM api_key"))) {
    entries.push_back({PD_TRY(key_of(row)), row.text(5)});
  }
  entries_ = std::move(entries);
  version_ = version;
  return {};
}

Result<bool> KeyRing::has_keys() {
  PD_TRY_CTX("reading the API keys", refresh());
  return !entries_.empty();
}

Result<std::optional<ApiKey>> KeyRing::find(std::string_view secret) {
  PD_TRY_CTX("reading the API keys", refresh());
  const std::string hash = hash_of(secret);
  std::optional<ApiKey> found;
  for (const Entry& entry : entries_) {
    const bool is_it = equal_in_constant_time(entry.hash, hash);
    if (is_it && entry.key.revoked_ms == 0) found = entry.key;
  }
  return found;
}

}  // namespace paddock::service
