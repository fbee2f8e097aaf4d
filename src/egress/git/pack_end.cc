#include "egress/git/pack_end.h"

#include <algorithm>

namespace paddock::egress::git {
namespace {

constexpr std::string_view kMagic = "PACK";
constexpr size_t kHeader = 12;

}  // namespace

PackEnd::PackEnd(size_t id_digits) : hash_size_(id_digits / 2), hash_(EVP_MD_CTX_new()) {
  EVP_DigestInit_ex(hash_.get(), hash_size_ == 20 ? EVP_sha1() : EVP_sha256(), nullptr);
}

void PackEnd::feed(std::string_view bytes) {
  if (head_.size() < kHeader) head_ += bytes.substr(0, kHeader - head_.size());
  tail_ += bytes;
  if (tail_.size() <= hash_size_) return;
  const size_t done = tail_.size() - hash_size_;
  EVP_DigestUpdate(hash_.get(), tail_.data(), done);
  tail_.erase(0, done);
}

bool PackEnd::is_whole() const {
  if (!head_.starts_with(kMagic) || head_.size() < kHeader || tail_.size() < hash_size_) {
    return false;
  }
  const std::unique_ptr<EVP_MD_CTX, Free> copy(EVP_MD_CTX_new());
  unsigned char digest[EVP_MAX_MD_SIZE];
  EVP_MD_CTX_copy_ex(copy.get(), hash_.get());
  EVP_DigestFinal_ex(copy.get(), digest, nullptr);
  return std::equal(tail_.begin(), tail_.end(), digest,
                    [](char a, unsigned char b) { return static_cast<unsigned char>(a) == b; });
}

}  // namespace paddock::egress::git
