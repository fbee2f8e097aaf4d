// TLS over any stream, either side of it, by OpenSSL.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "net/event.h"
#include "net/stream.h"

namespace paddock::net {

struct SslFree {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
using SslPtr = std::unique_ptr<SSL, SslFree>;

// Owns the stream below and the connection's state. `ssl` is fresh from its context, with its side
// (SSL_set_connect_state, SSL_set_accept_state) and names set.
class TlsStream : public Stream {
 public:
  TlsStream(Loop& loop, std::unique_ptr<Stream> below, SslPtr ssl);
  ~TlsStream() override;

  // permission_denied: the certificate is not one of this peer. unavailable: anything else; the
  // peer has been sent the alert.
  Status handshake(Task& task);
  // The protocol that both chose by ALPN; empty: none.
  std::string protocol() const;

  // A stream that is cut off below, without TLS's own end, is an error and no end.
  Result<size_t> read(Task& task, std::span<char> into) override;
  Status wait_readable(Task& task) override;
  Status write(Task& task, std::string_view bytes) override;
  Status end_writing(Task& task) override;
  void abort() override;

 private:
  Status take_more(Task& task);
  Status flush(Task& task);
  Status flush_unless_sending(Task& task);
  Status failed(Task& task, std::string_view doing);

  std::unique_ptr<Stream> below_;
  SslPtr ssl_;
  BIO* incoming_;  // of ssl_
  BIO* outgoing_;
  Turnstile writers_;  // both directions may have records to send
};

// A stream whose first bytes have been read already.
class PrefixedStream : public Stream {
 public:
  PrefixedStream(std::unique_ptr<Stream> below, std::string prefix)
      : below_(std::move(below)), prefix_(std::move(prefix)) {}

  Result<size_t> read(Task& task, std::span<char> into) override;
  Status wait_readable(Task& task) override;
  Status write(Task& task, std::string_view bytes) override { return below_->write(task, bytes); }
  Status end_writing(Task& task) override { return below_->end_writing(task); }
  void abort() override { below_->abort(); }

 private:
  std::unique_ptr<Stream> below_;
  std::string prefix_;
};

}  // namespace paddock::net
