// OpenSSL 3 calls these functions deprecated for EVP, whose first use reads a configuration file
// and loads providers: half a millisecond at the start of every run.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "sys/digest.h"

#include <fmt/ranges.h>
#include <openssl/sha.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace paddock::sys {
namespace {

class Sha256 {
 public:
  Sha256() { SHA256_Init(&context_); }
  void add(const void* data, size_t size) { SHA256_Update(&context_, data, size); }
  std::string hex() {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256_Final(digest.data(), &context_);
    return fmt::format("{:02x}", fmt::join(digest, ""));
  }

 private:
  SHA256_CTX context_{};
};

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  Sha256 sha;
  sha.add(bytes.data(), bytes.size());
  return sha.hex();
}

Result<std::string> sha256_hex(const Fd& fd) {
  Sha256 sha;
  std::array<char, 65536> buffer;
  while (true) {
    ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error::from_errno(errno, "reading for a digest");
    if (n == 0) return sha.hex();
    sha.add(buffer.data(), static_cast<size_t>(n));
  }
}

}  // namespace paddock::sys
