#include "egress/tls/java_store.h"

#include <openssl/evp.h>

#include <array>
#include <cstdint>
#include <vector>

#include "base/base64.h"

namespace paddock::egress::tls {
namespace {

// JavaKeyStore.java of OpenJDK: big-endian numbers, texts as a 16-bit length and UTF-8, and at the
// end a SHA-1 over password (UTF-16), a phrase and all that came before.
constexpr uint32_t kMagic = 0xfeedfeed;
constexpr uint32_t kVersion = 2;
constexpr uint32_t kTrustedEntry = 2;
constexpr std::string_view kPassword = "changeit";
constexpr std::string_view kPhrase = "Mighty Aphrodite";
constexpr uint64_t kSince = 946'684'800'000;  // 2000, as the authority's certificates

constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
constexpr std::string_view kEnd = "-----END CERTIFICATE-----";

template <typename Number>
void put(std::string& out, Number value) {
  for (size_t shift = sizeof value * 8; shift > 0; shift -= 8)
    out += static_cast<char>(value >> (shift - 8) & 0xff);
}

void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<uint16_t>(text.size()));
  out += text;
}

Result<std::vector<std::string>> certificates_of(std::string_view pem) {
  std::vector<std::string> found;
  for (size_t at = pem.find(kBegin); at != std::string_view::npos; at = pem.find(kBegin, at)) {
    at += kBegin.size();
    const size_t end = pem.find(kEnd, at);
    if (end == std::string_view::npos) break;
    std::string text;
    for (const char c : pem.substr(at, end - at)) {
      if (c != '\n' && c != '\r' && c != ' ') text += c;
    }
    auto der = base64_decode(text);
    if (!der.ok()) return Error(Code::data_corrupt, "a certificate that is no base64");
    found.push_back(std::move(*der));
  }
  if (found.empty()) return Error(Code::data_corrupt, "no certificate in what is to be trusted");
  return found;
}

Result<std::string> sha1(const std::string& bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha1(), nullptr) != 1) {
    return Error(Code::internal, "OpenSSL makes no SHA-1");
  }
  return std::string(digest.begin(), digest.begin() + size);
}

}  // namespace

Result<std::string> java_trust_store(std::string_view pem) {
  const std::vector<std::string> certificates = PD_TRY(certificates_of(pem));
  std::string store;
  put(store, kMagic);
  put(store, kVersion);
  put(store, static_cast<uint32_t>(certificates.size()));
  for (size_t i = 0; i < certificates.size(); ++i) {
    put(store, kTrustedEntry);
    put_text(store, "paddock-" + std::to_string(i));
    put(store, kSince);
    put_text(store, "X.509");
    put(store, static_cast<uint32_t>(certificates[i].size()));
    store += certificates[i];
  }
  std::string signed_text;
  for (const char c : kPassword) signed_text.append({'\0', c});
  signed_text += kPhrase;
  store += PD_TRY(sha1(signed_text + store));
  return store;
}

}  // namespace paddock::egress::tls
