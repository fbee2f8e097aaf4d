// Making X.509 certificates: an authority of our own, and leaves that it signs.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

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

// Seconds since the epoch.
struct Validity {
  time_t from = 0;
  time_t until = 0;
};
// From 2000 to 2049: before and after any clock that a guest may have.
inline constexpr Validity kWhateverTheClock{946'684'800, 2'524'607'999};

struct AuthorityTerms {
  std::string name;
  Validity validity = kWhateverTheClock;
  // DNS names that it may sign for, with all below them; empty: every name.
  std::vector<std::string> only_for = {};
};
// Self-signed, signs leaves only.
Result<X509Ptr> make_authority(EVP_PKEY& key, const AuthorityTerms& terms);

struct LeafRequest {
  std::vector<std::string> hosts;  // DNS names, "*.NAME", IP addresses in text
  EVP_PKEY& key;                   // the leaf's own
  X509& authority;
  EVP_PKEY& authority_key;
  Validity validity = kWhateverTheClock;
};
// invalid_argument: what is no host.
Result<X509Ptr> make_leaf(const LeafRequest& request);

// Whether a client that asks for `host` takes this certificate for it. A wildcard stands for one
// label, and two follow it at least (as OpenSSL, Node and browsers have it).
bool is_for(X509& certificate, const std::string& host);
time_t end_of(X509& certificate);

std::string to_pem(X509& certificate);
std::string to_pem(EVP_PKEY& key);
Result<X509Ptr> certificate_from_pem(std::string_view pem);
// All that are in it, in order.
Result<std::vector<X509Ptr>> certificates_from_pem(std::string_view pem);
// Of any kind, not encrypted.
Result<PkeyPtr> key_from_pem(std::string_view pem);

}  // namespace paddock::net
