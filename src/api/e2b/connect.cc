#include "api/e2b/connect.h"

#include <boost/json.hpp>

#include "model/json.h"

namespace paddock::api::e2b {
namespace {

constexpr uint8_t kCompressed = 0x01;
constexpr size_t kHead = 5;

boost::json::object to_object(const ConnectError& error) {
  boost::json::object object;
  object["code"] = name_of(kConnectCodeNames, error.code);
  object["message"] = error.message;
  return object;
}

uint32_t length_at(std::string_view head) {
  uint32_t length = 0;
  for (size_t i = 1; i < kHead; ++i) {
    length = length << 8 | static_cast<unsigned char>(head[i]);
  }
  return length;
}

}  // namespace

int http_status(ConnectCode code) {
  switch (code) {
    case ConnectCode::canceled:
      return 499;
    case ConnectCode::invalid_argument:
    case ConnectCode::failed_precondition:
      return 400;
    case ConnectCode::deadline_exceeded:
      return 504;
    case ConnectCode::not_found:
      return 404;
    case ConnectCode::already_exists:
      return 409;
    case ConnectCode::permission_denied:
      return 403;
    case ConnectCode::resource_exhausted:
      return 429;
    case ConnectCode::unimplemented:
      return 501;
    case ConnectCode::unavailable:
      return 503;
    case ConnectCode::unauthenticated:
      return 401;
    case ConnectCode::unknown:
    case ConnectCode::internal:
      return 500;
  }
  return 500;
}

ConnectCode connect_code(Code code) {
  switch (code) {
    case Code::invalid_argument:
      return ConnectCode::invalid_argument;
    case Code::not_found:
      return ConnectCode::not_found;
    case Code::already_exists:
      return ConnectCode::already_exists;
    case Code::permission_denied:
      return ConnectCode::permission_denied;
    case Code::failed_precondition:
    case Code::conflict:
      return ConnectCode::failed_precondition;
    case Code::unsupported:
      return ConnectCode::unimplemented;
    case Code::unavailable:
      return ConnectCode::unavailable;
    case Code::resource_exhausted:
      return ConnectCode::resource_exhausted;
    case Code::timed_out:
      return ConnectCode::deadline_exceeded;
    case Code::data_corrupt:
    case Code::internal:
      return ConnectCode::internal;
  }
  return ConnectCode::internal;
}

ConnectError connect_error(const Error& error) {
  std::string message = error.describe();
  if (!error.remedy().empty()) message += "; " + error.remedy();
  return {connect_code(error.code()), std::move(message)};
}

std::string to_json(const ConnectError& error) {
  return model::json_text(to_object(error));
}

std::string envelope(uint8_t flags, std::string_view message) {
  std::string out;
  out.reserve(kHead + message.size());
  out.push_back(static_cast<char>(flags));
  for (int shift = 24; shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(message.size() >> shift & 0xff));
  }
  return out.append(message);
}

std::string message_envelope(std::string_view json) {
  return envelope(0, json);
}

std::string end_envelope() {
  return envelope(kEndOfStream, "{}");
}

std::string end_envelope(const ConnectError& error) {
  boost::json::object object;
  object["error"] = to_object(error);
  return envelope(kEndOfStream, model::json_text(object));
}

Result<std::optional<Envelope>> EnvelopeReader::next() {
  if (buffer_.size() < kHead) return std::optional<Envelope>();
  const auto flags = static_cast<uint8_t>(buffer_[0]);
  if ((flags & kCompressed) != 0) {
    return Error(Code::unsupported, "a compressed message: none was agreed on");
  }
  if ((flags & ~kEndOfStream) != 0)
    return Error(Code::data_corrupt, "an envelope of no known kind");
  const uint32_t length = length_at(buffer_);
  if (length > max_message_) return Error(Code::resource_exhausted, "a message that is too long");
  if (buffer_.size() < kHead + length) return std::optional<Envelope>();
  Envelope out{flags, buffer_.substr(kHead, length)};
  buffer_.erase(0, kHead + length);
  return std::optional<Envelope>(std::move(out));
}

}  // namespace paddock::api::e2b
