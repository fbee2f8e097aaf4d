#include "egress/http/response_head.h"

#include <fmt/core.h>

#include "base/strings.h"

namespace paddock::egress::http {
namespace {

Error corrupt_response(std::string why) {
  return Error(Code::data_corrupt, "HTTP response: " + std::move(why));
}

// "HTTP/1.1 200 OK", the reason left out or not.
Status parse_status_line(std::string_view line, ResponseHead& head) {
  const bool shaped = line.size() >= 12 && line.starts_with("HTTP/1.") &&
                      (line[7] == '0' || line[7] == '1') && line[8] == ' ' &&
                      (line.size() == 12 || line[12] == ' ');
  const auto status = shaped ? parse_u64(line.substr(9, 3)) : std::nullopt;
  if (!status || *status < 100)
    return corrupt_response("status line '" + printable(line.substr(0, 60)) + "'");
  head.minor_version = line[7] == '1' ? 1 : 0;
  head.response.status = static_cast<uint16_t>(*status);
  if (line.size() > 13) head.response.reason = line.substr(13);
  for (char c : head.response.reason) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\t')
      return corrupt_response("a control character in it");
  }
  return {};
}

// RFC 9112 section 6.3.
Status read_body(ResponseHead& head, std::string_view method) {
  const std::optional<Body> declared = PD_TRY(declared_body(head.response.fields));
  const uint16_t status = head.response.status;
  if (status < 200 || status == 204 || status == 304 || method == "HEAD") return {};
  head.body = declared.value_or(Body{.kind = BodyKind::until_close, .size = 0});
  return {};
}

}  // namespace

Result<std::optional<ResponseHead>> parse_response_head(std::string_view stream,
                                                        std::string_view request_method) {
  const auto bytes = PD_TRY(find_head(stream));
  if (!bytes) return std::optional<ResponseHead>();
  std::string_view rest = *bytes;
  ResponseHead head;
  head.size = rest.size();
  PD_TRY(parse_status_line(take_line(rest), head));
  head.response.fields = PD_TRY(parse_fields(rest));
  PD_TRY(read_body(head, request_method));
  head.interim = head.response.status < 200 && head.response.status != 101;
  const bool close = has_token(head.response.fields, "connection", "close");
  const bool keep = has_token(head.response.fields, "connection", "keep-alive");
  head.keeps_alive = head.body.kind != BodyKind::until_close &&
                     (head.minor_version == 1 ? !close : keep && !close);
  return std::optional(std::move(head));
}

std::string serialize(const ResponseHead& head) {
  std::string out = fmt::format("HTTP/1.{} {:03} {}\r\n", head.minor_version, head.response.status,
                                head.response.reason);
  for (const Field& field : head.response.fields) {
    out += (field.spelled.empty() ? field.name : field.spelled) + ": " + field.value + "\r\n";
  }
  return out + "\r\n";
}

}  // namespace paddock::egress::http
