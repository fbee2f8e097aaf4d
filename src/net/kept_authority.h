// An authority of this installation, kept in a directory. Its key never leaves the host.
#pragma once

#include <string>

#include "net/certificate.h"

namespace paddock::net {

struct KeptAuthorityOptions {
  AuthorityTerms terms;   // of one that is made; a few digits follow the name
  std::string purpose;    // "TLS", for errors
  time_t good_until = 0;  // one that ends before is replaced
};

// Immutable.
class KeptAuthority {
 public:
  // Reads "key.pem" and "cert.pem" in the directory, or makes both (directory 0700, key 0600). Two
  // processes that make it at once agree on one.
  // failed_precondition: others can read the key. data_corrupt: the two do not belong together.
  static Result<KeptAuthority> open(const std::string& directory,
                                    const KeptAuthorityOptions& options);

  const std::string& pem() const { return pem_; }
  X509& certificate() const { return *certificate_; }
  EVP_PKEY& key() const { return *key_; }

 private:
  KeptAuthority() = default;

  X509Ptr certificate_;
  PkeyPtr key_;
  std::string pem_;
};

}  // namespace paddock::net
