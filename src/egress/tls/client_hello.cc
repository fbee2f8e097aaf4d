#include "egress/tls/client_hello.h"

#include <set>

#include "egress/tls/byte_reader.h"

namespace paddock::egress::tls {
namespace {

constexpr uint32_t kHandshake = 22;
constexpr uint32_t kClientHello = 1;
constexpr uint32_t kMaxRecord = 16384;
constexpr uint32_t kServerName = 0;
constexpr uint32_t kApplicationProtocols = 16;
constexpr uint32_t kEncryptedHello = 0xfe0d;
constexpr uint32_t kEncryptedServerName = 0xffce;  // ESNI, ECH's draft

Error corrupt(std::string_view why) {
  return Error(Code::data_corrupt, "TLS client hello: " + std::string(why));
}

Status read_server_name(std::string_view body, ClientHello& hello) {
  ByteReader extension(body);
  const auto list = extension.vector(2);
  if (!list || !extension.empty()) return corrupt("malformed server name");
  ByteReader names(*list);
  while (!names.empty()) {
    const auto type = names.number(1);
    const auto name = names.vector(2);
    if (!type || !name || *type != 0 || name->empty()) return corrupt("malformed server name");
    if (hello.server_name) return corrupt("two server names");
    hello.server_name = std::string(*name);
  }
  return hello.server_name ? Status() : corrupt("malformed server name");
}

Status read_protocols(std::string_view body, ClientHello& hello) {
  ByteReader extension(body);
  const auto list = extension.vector(2);
  if (!list || !extension.empty()) return corrupt("malformed protocol list");
  ByteReader names(*list);
  while (!names.empty()) {
    const auto name = names.vector(1);
    if (!name || name->empty()) return corrupt("malformed protocol list");
    hello.protocols.emplace_back(*name);
  }
  return {};
}

Status read_extensions(std::string_view body, ClientHello& hello) {
  ByteReader extensions(body);
  std::set<uint32_t> seen;
  while (!extensions.empty()) {
    const auto type = extensions.number(2);
    const auto content = extensions.vector(2);
    if (!type || !content) return corrupt("cut off in an extension");
    if (!seen.insert(*type).second) return corrupt("an extension stands twice");
    if (*type == kServerName) PD_TRY(read_server_name(*content, hello));
    if (*type == kApplicationProtocols) PD_TRY(read_protocols(*content, hello));
    if (*type == kEncryptedHello || *type == kEncryptedServerName) hello.encrypted_hello = true;
  }
  return {};
}

Result<ClientHello> parse_body(std::string_view body) {
  ByteReader reader(body);
  ClientHello hello;
  const auto version = reader.number(2);
  const auto random = reader.bytes(32);
  const auto session = reader.vector(1);
  const auto ciphers = reader.vector(2);
  const auto compressions = reader.vector(1);
  if (!version || !random || !session || !ciphers || !compressions || *version >> 8 != 3 ||
      session->size() > 32 || ciphers->size() < 2 || ciphers->size() % 2 != 0 ||
      compressions->empty()) {
    return corrupt("malformed");
  }
  if (reader.empty()) return hello;  // no extensions at all
  const auto extensions = reader.vector(2);
  if (!extensions || !reader.empty()) return corrupt("malformed extensions");
  PD_TRY(read_extensions(*extensions, hello));
  return hello;
}

struct Handshake {
  std::string bytes;
  bool ended = false;  // another kind of record follows
};

// The handshake bytes of the records at the start of the stream, as far as they have arrived.
Handshake handshake_bytes(std::string_view stream) {
  Handshake out;
  ByteReader records(stream);
  while (records.size() >= 5) {
    const auto type = records.number(1);
    const auto version = records.number(2);
    const auto length = records.number(2);
    if (*type != kHandshake || *version >> 8 != 3 || *length == 0 || *length > kMaxRecord) {
      out.ended = true;
      break;
    }
    const size_t available = std::min<size_t>(*length, records.size());
    out.bytes += *records.bytes(available);
    if (available < *length) break;
  }
  return out;
}

// Whether these first bytes, fewer than a record header, can begin one.
bool can_begin_record(std::string_view stream) {
  return (stream.empty() || stream[0] == kHandshake) && (stream.size() < 2 || stream[1] == 3);
}

}  // namespace

Result<std::optional<ClientHello>> parse_client_hello(std::string_view stream) {
  if (!can_begin_record(stream.substr(0, 2))) return corrupt("not a handshake record");
  const Handshake records = handshake_bytes(stream.substr(0, kMaxHello));
  ByteReader handshake(records.bytes);
  const auto type = handshake.number(1);
  if (type && *type != kClientHello) return corrupt("another handshake message");
  ByteReader sized = handshake;
  const auto length = sized.number(3);
  if (length && *length > kMaxHello / 2) return corrupt("too long");
  const auto body = handshake.vector(3);
  if (body) return std::optional(PD_TRY(parse_body(*body)));
  if (stream.size() >= kMaxHello) return corrupt("too long");
  if (records.ended) return corrupt("not a handshake record");
  return std::optional<ClientHello>();
}

}  // namespace paddock::egress::tls
