// The Connect protocol (connectrpc, "protocol reference") over HTTP/1.1 in its JSON form: envelopes
// of streams, codes, errors. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/enum_names.h"
#include "base/result.h"

namespace paddock::api::e2b {

enum class ConnectCode {
  canceled,
  unknown,
  invalid_argument,
  deadline_exceeded,
  not_found,
  already_exists,
  permission_denied,
  resource_exhausted,
  failed_precondition,
  unimplemented,
  internal,
  unavailable,
  unauthenticated
};
inline constexpr EnumNames<ConnectCode, 13> kConnectCodeNames{
    {{ConnectCode::canceled, "canceled"},
     {ConnectCode::unknown, "unknown"},
     {ConnectCode::invalid_argument, "invalid_argument"},
     {ConnectCode::deadline_exceeded, "deadline_exceeded"},
     {ConnectCode::not_found, "not_found"},
     {ConnectCode::already_exists, "already_exists"},
     {ConnectCode::permission_denied, "permission_denied"},
     {ConnectCode::resource_exhausted, "resource_exhausted"},
     {ConnectCode::failed_precondition, "failed_precondition"},
     {ConnectCode::unimplemented, "unimplemented"},
     {ConnectCode::internal, "internal"},
     {ConnectCode::unavailable, "unavailable"},
     {ConnectCode::unauthenticated, "unauthenticated"}}};

int http_status(ConnectCode code);
ConnectCode connect_code(Code code);

struct ConnectError {
  ConnectCode code;
  std::string message;
};
ConnectError connect_error(const Error& error);
// {"code":…,"message":…}
std::string to_json(const ConnectError& error);

// One envelope of a stream: a flag byte, u32 big endian length, the message.
inline constexpr uint8_t kEndOfStream = 0x02;
std::string envelope(uint8_t flags, std::string_view message);
std::string message_envelope(std::string_view json);
std::string end_envelope();
std::string end_envelope(const ConnectError& error);

struct Envelope {
  uint8_t flags = 0;
  std::string message;
};

// Bytes in, envelopes out. Bounded by its limit.
class EnvelopeReader {
 public:
  explicit EnvelopeReader(size_t max_message) : max_message_(max_message) {}

  void add(std::string_view bytes) { buffer_.append(bytes); }
  // nullopt: not all of it is there. resource_exhausted: longer than the limit. unsupported: it is
  // compressed. data_corrupt: flags that nobody knows.
  Result<std::optional<Envelope>> next();
  bool is_empty() const { return buffer_.empty(); }

 private:
  size_t max_message_;
  std::string buffer_;
};

}  // namespace paddock::api::e2b
