#include "api/e2b/access.h"

#include "base/base64.h"
#include "egress/credentials/hmac.h"
#include "sys/digest.h"

namespace paddock::api::e2b {
namespace {

constexpr size_t kTokenLength = 32;

std::string from_hex(std::string_view hex) {
  auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(value(hex[i]) * 16 + value(hex[i + 1])));
  }
  return bytes;
}

}  // namespace

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  }
  return difference == 0;
}

std::string AccessTokens::of(std::string_view sandbox_id) const {
  return egress::to_hex(egress::hmac_sha256(key_, sandbox_id)).substr(0, kTokenLength);
}

std::string AccessTokens::of_traffic(std::string_view sandbox_id) const {
  return of("traffic to " + std::string(sandbox_id));  // no sandbox has such an id
}

std::string signature_of(const SignedUrl& url, std::string_view token) {
  std::string text = url.path + ":" + url.operation + ":" + url.user + ":" + std::string(token);
  if (url.expires) text += ":" + std::to_string(*url.expires);
  std::string encoded = base64_encode(from_hex(sys::sha256_hex(text)));
  encoded.erase(encoded.find_last_not_of('=') + 1);
  return "v1_" + encoded;
}

}  // namespace paddock::api::e2b
