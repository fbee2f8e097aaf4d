#include "net/tls_context.h"

#include <fmt/core.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <algorithm>

#include "model/ip_address.h"
#include "net/openssl_error.h"

namespace paddock::net {
namespace {

// Where distributions keep what they trust; OpenSSL's own default differs from one to the other.
constexpr const char* kBundles[] = {"/etc/ssl/certs/ca-certificates.crt",
                                    "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
                                    "/etc/ssl/cert.pem"};

void trust_host(SSL_CTX& context) {
  SSL_CTX_set_default_verify_paths(&context);
  for (const char* bundle : kBundles) {
    if (access(bundle, R_OK) != 0) continue;
    SSL_CTX_load_verify_file(&context, bundle);
    break;
  }
  ERR_clear_error();
}

Status trust(SSL_CTX& context, std::string_view pem) {
  for (const X509Ptr& certificate : PD_TRY(certificates_from_pem(pem))) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(&context), certificate.get());
  }
  return {};
}

std::string wire_form(const std::vector<std::string>& protocols) {
  std::string out;
  for (const std::string& protocol : protocols)
    out += static_cast<char>(protocol.size()) + protocol;
  return out;
}

// The protocol that make_server() was given hangs on the connection.
int protocol_slot() {
  static const int slot = SSL_get_ex_new_index(
      0, nullptr, nullptr, nullptr, [](void*, void* text, CRYPTO_EX_DATA*, int, long, void*) {
        delete static_cast<std::string*>(text);
      });
  return slot;
}

int choose_protocol(SSL* ssl, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* offered, unsigned offered_size, void*) {
  const auto* wanted = static_cast<std::string*>(SSL_get_ex_data(ssl, protocol_slot()));
  if (wanted == nullptr) return SSL_TLSEXT_ERR_NOACK;
  // SAFETY: chars as bytes; both lists outlive the call, as the callback's contract asks.
  const auto* list = reinterpret_cast<const unsigned char*>(wanted->data());
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_size, list, static_cast<unsigned>(wanted->size()), offered,
                            offered_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

Result<SslContextPtr> make_client_context(const std::string& more_certificates) {
  SslContextPtr context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr) return openssl_error("setting up TLS");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  trust_host(*context);
  PD_TRY_CTX("trusting further certificates", trust(*context, more_certificates));
  return context;
}

Result<SslPtr> make_client(SSL_CTX& context, const std::string& host,
                           const std::vector<std::string>& protocols) {
  SslPtr ssl(SSL_new(&context));
  if (ssl == nullptr) return openssl_error("setting up TLS to " + host);
  SSL_set_connect_state(ssl.get());
  X509_VERIFY_PARAM* parameters = SSL_get0_param(ssl.get());
  X509_VERIFY_PARAM_set_hostflags(parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const bool is_address = model::IpAddress::parse(host).ok();
  const bool named =
      is_address ? X509_VERIFY_PARAM_set1_ip_asc(parameters, host.c_str()) == 1
                 : X509_VERIFY_PARAM_set1_host(parameters, host.c_str(), host.size()) == 1 &&
                       SSL_set_tlsext_host_name(ssl.get(), host.c_str()) == 1;
  const std::string offered = wire_form(protocols);
  // SAFETY: chars as bytes.
  const auto* bytes = reinterpret_cast<const unsigned char*>(offered.data());
  if (!named ||
      (!offered.empty() &&
       SSL_set_alpn_protos(ssl.get(), bytes, static_cast<unsigned>(offered.size())) != 0)) {
    return openssl_error("setting up TLS to " + host);
  }
  return ssl;
}

Result<SslContextPtr> make_server_context(X509& leaf, EVP_PKEY& key,
                                          const std::vector<X509*>& issuers) {
  SslContextPtr context(SSL_CTX_new(TLS_server_method()));
  const bool done = context != nullptr && SSL_CTX_use_certificate(context.get(), &leaf) == 1 &&
                    SSL_CTX_use_PrivateKey(context.get(), &key) == 1 &&
                    std::ranges::all_of(issuers, [&](X509* issuer) {
                      return SSL_CTX_add1_chain_cert(context.get(), issuer) == 1;
                    });
  if (!done) return openssl_error("setting up TLS as a server");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // Every connection is of another sandbox or host: nothing is resumed.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol, nullptr);
  return context;
}

Result<SslPtr> make_server(SSL_CTX& context, const std::string& protocol) {
  SslPtr ssl(SSL_new(&context));
  if (ssl == nullptr) return openssl_error("setting up TLS as a server");
  SSL_set_accept_state(ssl.get());
  if (!protocol.empty()) {
    SSL_set_ex_data(ssl.get(), protocol_slot(), new std::string(wire_form({protocol})));
  }
  return ssl;
}

}  // namespace paddock::net
