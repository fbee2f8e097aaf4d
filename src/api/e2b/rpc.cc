#include "api/e2b/rpc.h"

#include <utility>

#include "api/e2b/json.h"
#include "base/strings.h"
#include "model/json.h"

namespace paddock::api::e2b {
namespace {

constexpr const char* kUnary = "application/json";
constexpr const char* kStream = "application/connect+json";

std::string_view media_type(const net::http::RequestHead& request) {
  const std::string_view type = request.headers.get("content-type");
  return type.substr(0, type.find(';'));
}

// Bodies in protobuf's own form are of no client that is served here.
std::optional<ConnectError> check_type(const Call& call, std::string_view wanted) {
  const std::string_view type = media_type(call.exchange.request());
  if (net::http::equals_ignoring_case(type, wanted)) return std::nullopt;
  return ConnectError{ConnectCode::unimplemented,
                      "content type '" + std::string(type.substr(0, 100)) + "': only " +
                          std::string(wanted) + " is understood"};
}

std::variant<boost::json::object, ConnectError> object_of(std::string_view text) {
  auto object = parse_object(text);
  if (!object.ok()) return connect_error(object.error());
  return std::move(*object);
}

}  // namespace

Status respond_json(net::Task& task, net::http::Exchange& exchange, int status,
                    const boost::json::value& body) {
  return exchange.respond(task, {status, {{"Content-Type", kUnary}}, model::json_text(body)});
}

Status respond_error(net::Task& task, net::http::Exchange& exchange, const ConnectError& error) {
  return exchange.respond(task,
                          {http_status(error.code), {{"Content-Type", kUnary}}, to_json(error)});
}

uint64_t header_number(const Call& call, std::string_view name, uint64_t otherwise) {
  return parse_u64(call.exchange.request().headers.get(name)).value_or(otherwise);
}

std::variant<boost::json::object, ConnectError> read_unary(const Call& call) {
  if (auto wrong = check_type(call, kUnary)) return *wrong;
  auto body = call.exchange.read_whole_body(call.task, kMaxMessage);
  if (!body.ok()) return connect_error(body.error());
  return object_of(*body);
}

Status respond(const Call& call, const Answer& answer) {
  if (const auto* error = std::get_if<ConnectError>(&answer)) {
    return respond_error(call.task, call.exchange, *error);
  }
  return respond_json(call.task, call.exchange, 200, std::get<boost::json::object>(answer));
}

std::variant<boost::json::object, ConnectError> read_first(const Call& call) {
  if (auto wrong = check_type(call, kStream)) return *wrong;
  auto body = call.exchange.read_whole_body(call.task, kMaxMessage);
  if (!body.ok()) return connect_error(body.error());
  EnvelopeReader reader(kMaxMessage);
  reader.add(*body);
  auto first = reader.next();
  if (!first.ok()) return connect_error(first.error());
  const bool is_message = *first && (*first)->flags == 0 && reader.is_empty();
  if (!is_message) {
    return ConnectError{ConnectCode::invalid_argument, "exactly one message was expected"};
  }
  return object_of((*first)->message);
}

Status EventStream::begin() {
  return call_.exchange.begin(call_.task, {200, {{"Content-Type", kStream}}, ""}, std::nullopt);
}

Status EventStream::send(const boost::json::object& message) {
  return call_.exchange.write(call_.task, message_envelope(model::json_text(message)));
}

Status EventStream::end() {
  PD_TRY(call_.exchange.write(call_.task, end_envelope()));
  return call_.exchange.finish(call_.task);
}

Status EventStream::end(const ConnectError& error) {
  call_.exchange.note_failure(name_of(kConnectCodeNames, error.code));
  PD_TRY(call_.exchange.write(call_.task, end_envelope(error)));
  return call_.exchange.finish(call_.task);
}

Status refuse_stream(const Call& call, const ConnectError& error) {
  EventStream stream(call);
  PD_TRY(stream.begin());
  return stream.end(error);
}

}  // namespace paddock::api::e2b
