#include "net/tls_stream.h"

#include <fmt/core.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>

namespace paddock::net {
namespace {

constexpr size_t kRecord = 16 * 1024 + 512;  // one record of the largest size, as it is sent
constexpr size_t kPlain = 16 * 1024;

std::string last_ssl_error() {
  std::array<char, 256> text{};
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "the peer broke off";
  const char* reason = ERR_reason_error_string(code);
  if (reason != nullptr) return reason;
  ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

}  // namespace

TlsStream::TlsStream(Loop& loop, std::unique_ptr<Stream> below, SslPtr ssl)
    : below_(std::move(below)),
      ssl_(std::move(ssl)),
      incoming_(BIO_new(BIO_s_mem())),
      outgoing_(BIO_new(BIO_s_mem())),
      writers_(loop) {
  SSL_set_bio(ssl_.get(), incoming_, outgoing_);
  SSL_set_mode(ssl_.get(), SSL_MODE_RELEASE_BUFFERS);
}
TlsStream::~TlsStream() = default;

std::string TlsStream::protocol() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return {name, name + size};
}

// Records for the peer that OpenSSL has made, by either direction.
Status TlsStream::flush(Task& task) {
  const auto turn = writers_.enter(task);
  std::array<char, kRecord> buffer;
  while (BIO_pending(outgoing_) > 0) {
    const int count = BIO_read(outgoing_, buffer.data(), static_cast<int>(buffer.size()));
    if (count <= 0) break;
    PD_TRY(below_->write(task, {buffer.data(), static_cast<size_t>(count)}));
  }
  return {};
}

// For the reading side. Records that a writer is just sending are its own business: it may wait for
// a peer that reads nothing until we have read.
Status TlsStream::flush_unless_sending(Task& task) {
  if (BIO_pending(outgoing_) == 0 || writers_.is_taken()) return {};
  return flush(task);
}

Status TlsStream::take_more(Task& task) {
  std::array<char, kRecord> buffer;
  const size_t count = PD_TRY(below_->read(task, buffer));
  if (count == 0) return Error(Code::unavailable, "TLS: the connection was cut off");
  BIO_write(incoming_, buffer.data(), static_cast<int>(count));
  return {};
}

Status TlsStream::failed(Task& task, std::string_view doing) {
  const std::string why = last_ssl_error();
  const long verdict = SSL_get_verify_result(ssl_.get());
  (void)flush_unless_sending(task);  // the alert, as far as the peer still listens
  if (verdict != X509_V_OK) {
    return Error(Code::permission_denied, fmt::format("{}: certificate refused: {}", doing,
                                                      X509_verify_cert_error_string(verdict)));
  }
  return Error(Code::unavailable, fmt::format("{}: {}", doing, why));
}

Status TlsStream::handshake(Task& task) {
  while (true) {
    ERR_clear_error();
    const int done = SSL_do_handshake(ssl_.get());
    const int state = SSL_get_error(ssl_.get(), done);
    if (done == 1) return flush(task);
    if (state != SSL_ERROR_WANT_READ) return failed(task, "TLS handshake");
    PD_TRY(flush(task));
    PD_TRY_CTX("TLS handshake", take_more(task));
  }
}

Result<size_t> TlsStream::read(Task& task, std::span<char> into) {
  while (true) {
    ERR_clear_error();
    size_t count = 0;
    const int done = SSL_read_ex(ssl_.get(), into.data(), into.size(), &count);
    if (done == 1) return count;
    const int state = SSL_get_error(ssl_.get(), done);
    if (state == SSL_ERROR_ZERO_RETURN) return size_t{0};
    if (state != SSL_ERROR_WANT_READ) return failed(task, "reading TLS").error();
    PD_TRY(flush_unless_sending(task));  // key updates
    PD_TRY(take_more(task));
  }
}

Status TlsStream::wait_readable(Task& task) {
  const bool buffered = SSL_has_pending(ssl_.get()) == 1 || BIO_pending(incoming_) > 0;
  return buffered ? Status() : below_->wait_readable(task);
}

Status TlsStream::write(Task& task, std::string_view bytes) {
  while (!bytes.empty()) {
    ERR_clear_error();
    const std::string_view piece = bytes.substr(0, kPlain);
    size_t count = 0;
    if (SSL_write_ex(ssl_.get(), piece.data(), piece.size(), &count) != 1) {
      return failed(task, "writing TLS");
    }
    bytes.remove_prefix(count);
    PD_TRY(flush(task));
  }
  return {};
}

Status TlsStream::end_writing(Task& task) {
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
  PD_TRY(flush(task));
  return below_->end_writing(task);
}

void TlsStream::abort() {
  below_->abort();
}

Result<size_t> PrefixedStream::read(Task& task, std::span<char> into) {
  if (prefix_.empty()) return below_->read(task, into);
  const size_t count = std::min(into.size(), prefix_.size());
  std::copy_n(prefix_.begin(), count, into.begin());
  prefix_.erase(0, count);
  return count;
}

Status PrefixedStream::wait_readable(Task& task) {
  return prefix_.empty() ? below_->wait_readable(task) : Status();
}

}  // namespace paddock::net
