#include "egress/gate/interception.h"

#include <algorithm>

#include "net/borrowed_stream.h"

namespace paddock::egress {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatienceWithHandshake = 20s;
constexpr std::string_view kUnderstood[] = {"h2", "http/1.1"};

// Those of the client's protocols that can be looked into, in its order.
std::vector<std::string> offered(const tls::ClientHello& hello) {
  std::vector<std::string> out;
  for (const std::string& protocol : hello.protocols) {
    if (std::find(std::begin(kUnderstood), std::end(kUnderstood), protocol) !=
        std::end(kUnderstood)) {
      out.push_back(protocol);
    }
  }
  return out;
}

Status shake(net::Task& task, net::TlsStream& stream) {
  net::Deadline deadline(net::loop_of(task), kPatienceWithHandshake, [&] { stream.abort(); });
  Status status = stream.handshake(task);
  if (deadline.disarm() != net::Deadline::State::expired) return status;
  return Error(Code::timed_out, "TLS handshake: no answer within 20 s");
}

// A program that must be told of a failure speaks HTTP/1.1, if it can.
std::string protocol_for_failure(const tls::ClientHello& hello) {
  const auto found = std::find(hello.protocols.begin(), hello.protocols.end(), "http/1.1");
  return found == hello.protocols.end() ? "" : *found;
}

}  // namespace

Result<std::unique_ptr<net::TlsStream>> open_tls_to_host(net::Task& task, Core& core,
                                                         const ToHost& what) {
  SSL_CTX* context = PD_TRY(core.client_context());
  const std::string host = to_string(what.target.host);
  net::SslPtr ssl = PD_TRY(net::make_client(*context, host, what.protocols));
  auto stream = std::make_unique<net::TlsStream>(
      net::loop_of(task), std::make_unique<net::BorrowedStream>(what.stream), std::move(ssl));
  PD_TRY_CTX("opening TLS to " + host, shake(task, *stream));
  return stream;
}

Result<OpenedTls> open_tls(net::Task& task, Core& core, const ToOpen& what) {
  OpenedTls out;
  auto upstream = open_tls_to_host(
      task, core,
      {.stream = what.upstream, .target = what.target, .protocols = offered(what.hello)});
  if (upstream.ok()) {
    out.upstream = std::move(*upstream);
    out.protocol = out.upstream->protocol();
  } else {
    // A certificate that is refused is the host's failure, not a refusal of ours.
    const bool late = upstream.error().code() == Code::timed_out;
    out.upstream_error =
        Error(late ? Code::timed_out : Code::unavailable, upstream.error().describe());
    out.protocol = protocol_for_failure(what.hello);
  }
  tls::Authority* authority = PD_TRY(core.authority());
  const auto context = PD_TRY(authority->server_for(what.target.host));
  net::SslPtr ssl = PD_TRY(net::make_server(*context, out.protocol));
  out.client = std::make_unique<net::TlsStream>(
      net::loop_of(task), std::make_unique<net::BorrowedStream>(what.client), std::move(ssl));
  PD_TRY_CTX("opening TLS to the program", shake(task, *out.client));
  return out;
}

std::string alert_record(Alert alert) {
  std::string record("\x15\x03\x03\x00\x02\x02", 6);  // an alert of TLS 1.2, fatal
  record += static_cast<char>(alert);
  return record;
}

}  // namespace paddock::egress
