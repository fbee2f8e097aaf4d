// Client hellos for tests: by OpenSSL, and cut into records as one likes.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>

namespace paddock::egress::testing {

struct HelloOptions {
  std::string server_name = "a.example";  // empty: none
  std::string protocols{};                // ALPN in wire form: "\2h2\10http/1.1"
};

// What a client of OpenSSL sends first.
inline std::string openssl_hello(const HelloOptions& options) {
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                            SSL_CTX_free);
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context.get()), SSL_free);
  BIO* out = BIO_new(BIO_s_mem());
  SSL_set_bio(ssl.get(), BIO_new(BIO_s_mem()), out);
  if (!options.server_name.empty()) {
    SSL_set_tlsext_host_name(ssl.get(), options.server_name.c_str());
  }
  if (!options.protocols.empty()) {
    // SAFETY: chars as bytes.
    SSL_set_alpn_protos(ssl.get(), reinterpret_cast<const unsigned char*>(options.protocols.data()),
                        static_cast<unsigned>(options.protocols.size()));
  }
  SSL_connect(ssl.get());
  char* data = nullptr;
  const long size = BIO_get_mem_data(out, &data);
  return std::string(data, static_cast<size_t>(size));
}

// The same handshake bytes in records of at most `size`.
inline std::string in_records_of(std::string_view hello, size_t size) {
  std::string out;
  for (std::string_view rest = hello.substr(5); !rest.empty();) {
    const std::string_view piece = rest.substr(0, size);
    out += hello.substr(0, 3);
    out += static_cast<char>(piece.size() >> 8);
    out += static_cast<char>(piece.size());
    out += piece;
    rest.remove_prefix(piece.size());
  }
  return out;
}

// A hello with these extensions (type, length and content each) and nothing else of interest.
inline std::string hello_with(const std::string& extensions) {
  auto sized = [](const std::string& bytes, int width) {
    std::string out;
    for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) {
      out += static_cast<char>(bytes.size() >> shift);
    }
    return out + bytes;
  };
  const std::string body = "\3\3" + std::string(32, 'r') + std::string(1, '\0') +
                           sized("\x13\x01", 2) + sized(std::string(1, '\0'), 1) +
                           sized(extensions, 2);
  return "\x16\3\1" + sized("\1" + sized(body, 3), 2);
}

}  // namespace paddock::egress::testing
