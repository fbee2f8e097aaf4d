// What a server shows to its TLS clients: a certificate, which is another one after a while.
#pragma once

#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "model/ip_address.h"
#include "net/tls_context.h"

namespace paddock::net {

// Used on the loop's thread, but for its making. Outlives the connections that it gave a session.
class ServerIdentity {
 public:
  virtual ~ServerIdentity() = default;

  // For one connection of HTTP/1.1.
  virtual Result<SslPtr> session() = 0;

  // Takes another certificate when it is time. Errors: it goes on with the one it has.
  enum class Refreshed { as_before, renewed, by_another_authority };
  virtual Result<Refreshed> refresh(time_t now) = 0;

  virtual bool is_good_for(const std::string& host) const = 0;
  virtual time_t good_until() const = 0;
};

// ---- of an authority of our own

struct LocalIdentityOptions {
  std::string directory;                    // of the authority, which is made when it is not there
  std::string domain;                       // served as DOMAIN and NAME.DOMAIN
  std::vector<model::IpAddress> addresses;  // besides loopback's
};

// An authority that is believed for `domain` and localhost alone, good for ten years and made anew
// half a year before that; a certificate of it for ninety days, whose key is on no disk. Names for
// which no client takes a wildcard (NAME.localhost) get a certificate each, when they are asked
// for.
Result<std::unique_ptr<ServerIdentity>> make_local_identity(LocalIdentityOptions options,
                                                            time_t now);
// Its authority's certificate in PEM.
Result<std::string> local_authority(const LocalIdentityOptions& options, time_t now);

// ---- of somebody else's

struct CertificateFiles {
  std::string certificate;  // PEM: the server's, then its issuers'
  std::string key;          // PEM, not encrypted, not for everybody to read
};
// Read again when a file is another one. failed_precondition: over, or a key that everybody can
// read. invalid_argument: not PEM, or a key that is not the certificate's.
Result<std::unique_ptr<ServerIdentity>> read_identity(CertificateFiles files, time_t now);

}  // namespace paddock::net
