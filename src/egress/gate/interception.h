// TLS opened between a program and the host that it asked for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "egress/gate/core.h"
#include "net/tls_stream.h"

namespace paddock::egress {

struct OpenedTls {
  std::unique_ptr<net::TlsStream> client;    // in which we are the host
  std::unique_ptr<net::TlsStream> upstream;  // in which we are the program; nullptr: it failed
  Error upstream_error{Code::internal, ""};  // why
  std::string protocol;                      // both sides', by ALPN; empty: none
};

struct ToOpen {
  net::Stream& client;  // its hello not read, or read and put in front again
  net::Stream& upstream;
  const Target& target;
  const tls::ClientHello& hello;
};

struct ToHost {
  net::Stream& stream;  // outlives the TLS on it
  const Target& target;
  std::vector<std::string> protocols;  // to offer by ALPN
};

// As the program: the certificate must be the target's.
Result<std::unique_ptr<net::TlsStream>> open_tls_to_host(net::Task& task, Core& core,
                                                         const ToHost& what);

// First the host is asked, so that the program gets the protocol that the host chose. An error: the
// program's side failed, and it has been told by an alert.
Result<OpenedTls> open_tls(net::Task& task, Core& core, const ToOpen& what);

// An alert in the clear, for a client that has said no more than its hello.
enum class Alert : uint8_t { access_denied = 49, internal_error = 80, unrecognized_name = 112 };
std::string alert_record(Alert alert);

}  // namespace paddock::egress
