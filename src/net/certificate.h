// Making X.509 certificates: an authority of our own, and leaves that it signs.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace paddock::net {

struct X509Free {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
struct PkeyFree {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using X509Ptr = std::unique_ptr<X509, X509Free>;
using PkeyPtr = std::unique_ptr<EVP_PKEY, PkeyFree>;

// A P-256 key.
Result<PkeyPtr> make_key();

// Self-signed, signs leaves only. Valid from 2000 on: before any clock that a guest may have.
Result<X509Ptr> make_authority(EVP_PKEY& key, const std::string& name);

// For one host: a DNS name, or an IP address in text. `key` is the leaf's own.
struct LeafRequest {
  std::string host;
  EVP_PKEY& key;
  X509& authority;
  EVP_PKEY& authority_key;
};
Result<X509Ptr> make_leaf(const LeafRequest& request);

std::string to_pem(X509& certificate);
std::string to_pem(EVP_PKEY& key);
Result<X509Ptr> certificate_from_pem(std::string_view pem);
Result<PkeyPtr> key_from_pem(std::string_view pem);

}  // namespace paddock::net
