// Settings that many TLS connections share.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/certificate.h"
#include "net/tls_stream.h"

namespace paddock::net {

struct SslContextFree {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using SslContextPtr = std::unique_ptr<SSL_CTX, SslContextFree>;

// As a client: TLS 1.2 and later, the certificates that this host trusts, and further ones in PEM.
Result<SslContextPtr> make_client_context(const std::string& more_certificates);

// For one connection. The certificate must be `host`'s (a name or an address), which is asked for
// by SNI when it is a name; `protocols` are offered by ALPN, in order.
Result<SslPtr> make_client(SSL_CTX& context, const std::string& host,
                           const std::vector<std::string>& protocols);

// As a server, with this certificate and those of its issuers behind it, nearest first.
Result<SslContextPtr> make_server_context(X509& leaf, EVP_PKEY& key,
                                          const std::vector<X509*>& issuers);

// For one connection, choosing `protocol` by ALPN when the client offers it; empty: none.
Result<SslPtr> make_server(SSL_CTX& context, const std::string& protocol);

}  // namespace paddock::net
