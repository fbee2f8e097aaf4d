#include "egress/credentials/placeholder.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/base64.h"
#include "base/strings.h"
#include "egress/credentials/hmac.h"

namespace paddock::egress {
namespace {

constexpr size_t kMinVarying = 16;  // bytes that change; digits alone give 53 bits
constexpr std::array<std::string_view, 31> kPrefixes{
    "github_pat_", "ghp_",     "gho_",     "ghu_",  "ghs_",     "ghr_",     "glpat-",   "glptt-",
    "sk-ant-",     "sk-proj-", "sk-",      "pk-",   "rk_live_", "sk_live_", "sk_test_", "xoxb-",
    "xoxp-",       "xapp-",    "npm_",     "pypi-", "dop_v1_",  "hf_",      "AKIA",     "ASIA",
    "AIza",        "ya29.",    "lin_api_", "ntn_",  "secret_",  "Bearer ",  "Basic "};

// Bytes without end, the same for the same key and name.
class Stream {
 public:
  Stream(std::string_view key, std::string_view name) : key_(key), name_(name) {}

  uint8_t next() {
    if (at_ == block_.size()) {
      block_ = hmac_sha256(key_, "paddock placeholder " + std::to_string(counter_++) + " " + name_);
      at_ = 0;
    }
    return static_cast<uint8_t>(block_[at_++]);
  }

  // Below `bound`, each as likely.
  uint8_t below(uint8_t bound) {
    const uint8_t limit = static_cast<uint8_t>(256 - 256 % bound);
    while (true) {
      const uint8_t byte = next();
      if (limit == 0 || byte < limit) return static_cast<uint8_t>(byte % bound);
    }
  }

 private:
  std::string key_;
  std::string name_;
  std::string block_;
  size_t at_ = 0;
  uint64_t counter_ = 0;
};

bool varies(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

char another_like(char c, Stream& stream) {
  if (c >= 'a' && c <= 'z') return static_cast<char>('a' + stream.below(26));
  if (c >= 'A' && c <= 'Z') return static_cast<char>('A' + stream.below(26));
  return static_cast<char>('0' + stream.below(10));
}

// Tokens in hexadecimal are checked to be that.
bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string shaped_like(std::string_view text, Stream& stream) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const bool hex = is_hex(text);
  std::string out;
  for (char c : text) out += hex ? kHex[stream.below(16)] : varies(c) ? another_like(c, stream) : c;
  return out;
}

std::string base64url(std::string_view bytes) {
  std::string text = base64_encode(bytes);
  text.resize(std::min(text.size(), text.find('=')));
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

// "{"alg":…}" in base64url, claims, signature.
bool is_jwt(const std::vector<std::string>& parts) {
  return parts.size() == 3 && parts[0].starts_with("eyJ") && parts[1].starts_with("eyJ") &&
         parts[2].size() >= kMinVarying;
}

std::string placeholder_jwt(const std::vector<std::string>& parts, Stream& stream) {
  std::string id;
  for (int i = 0; i < 20; ++i) id += static_cast<char>('a' + stream.below(26));
  const std::string claims =
      R"({"sub":"paddock","jti":")" + id + R"(","iat":1500000000,"exp":4102444800})";
  return parts[0] + "." + base64url(claims) + "." + shaped_like(parts[2], stream);
}

size_t prefix_length(std::string_view secret) {
  for (std::string_view prefix : kPrefixes) {
    if (secret.starts_with(prefix)) return prefix.size();
  }
  return 0;
}

}  // namespace

std::string make_placeholder(std::string_view secret, std::string_view key, std::string_view name) {
  Stream stream(key, name);
  if (const auto parts = split(secret, '.'); is_jwt(parts)) return placeholder_jwt(parts, stream);
  const size_t prefix = prefix_length(secret);
  const std::string_view rest = secret.substr(prefix);
  if (std::count_if(rest.begin(), rest.end(), varies) < static_cast<ptrdiff_t>(kMinVarying)) {
    return "paddock-" + shaped_like("aaaaaaaaaaaaaaaaaaaaaaaa", stream);
  }
  return std::string(secret.substr(0, prefix)) + shaped_like(rest, stream);
}

}  // namespace paddock::egress
