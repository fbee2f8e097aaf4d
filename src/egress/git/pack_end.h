// Whether a pack is whole: it ends in the hash of all that came before.
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <string>
#include <string_view>

namespace paddock::egress::git {

// Fed a pack as it comes. One owner, one thread.
class PackEnd {
 public:
  // `id_digits`: 40 of SHA-1, 64 of SHA-256, as the ids of the push have.
  explicit PackEnd(size_t id_digits);

  void feed(std::string_view bytes);
  bool is_whole() const;

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };

  size_t hash_size_;
  std::unique_ptr<EVP_MD_CTX, Free> hash_;
  std::string head_;  // the first bytes
  std::string tail_;  // the last bytes, not hashed
};

}  // namespace paddock::egress::git
