#include "egress/http/framing.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "base/strings.h"

namespace paddock::egress::http {
namespace {

constexpr size_t kShown = 60;

Error corrupt_framing(std::string why) {
  return Error(Code::data_corrupt, "HTTP: " + std::move(why));
}

std::string quoted(std::string_view text) {
  return "'" + printable(text.substr(0, kShown)) + "'";
}

bool is_field_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
}

Result<Field> parse_field(std::string_view line) {
  if (line.front() == ' ' || line.front() == '\t') return corrupt_framing("a folded header line");
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos)
    return corrupt_framing("a header line without ':' " + quoted(line));
  const std::string_view name = line.substr(0, colon);
  if (!is_token(name)) return corrupt_framing("a header named " + quoted(name));
  std::string_view value = line.substr(colon + 1);
  if (!std::all_of(value.begin(), value.end(), is_field_byte)) {
    return corrupt_framing(fmt::format("a control character in header {}", name));
  }
  const size_t first = value.find_first_not_of(" \t");
  value = first == std::string_view::npos ? "" : value.substr(first);
  value = value.substr(0, value.find_last_not_of(" \t") + 1);
  return Field{.name = lower_case(name), .value = std::string(value), .spelled = std::string(name)};
}

std::vector<const Field*> fields_named(const Fields& fields, std::string_view name) {
  std::vector<const Field*> out;
  for (const Field& field : fields) {
    if (field.name == name) out.push_back(&field);
  }
  return out;
}

}  // namespace

bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kMarks.find(c) != std::string_view::npos;
  });
}

Result<std::optional<std::string_view>> find_head(std::string_view stream) {
  const std::string_view window = stream.substr(0, kMaxHead);
  size_t lines = 0;
  for (size_t at = 0;;) {
    if (lines++ > kMaxFields + 1) return corrupt_framing("more than 256 header lines");
    const size_t newline = window.find('\n', at);
    const std::string_view line = window.substr(at, newline - at);
    if (newline == std::string_view::npos) {
      if (window.size() == kMaxHead) return corrupt_framing("a head of more than 64 KiB");
      return std::optional<std::string_view>();
    }
    if (!line.ends_with('\r')) return corrupt_framing("a line that ends in LF alone");
    if (line.find('\r') != line.size() - 1) return corrupt_framing("a CR inside a line");
    if (line.size() == 1) {
      if (at == 0) return corrupt_framing("an empty line where a message begins");
      return std::optional(window.substr(0, newline + 1));
    }
    at = newline + 1;
  }
}

std::string_view take_line(std::string_view& head) {
  const size_t end = head.find("\r\n");
  const std::string_view line = head.substr(0, end);
  head.remove_prefix(std::min(head.size(), line.size() + 2));
  return line;
}

Result<Fields> parse_fields(std::string_view lines) {
  Fields fields;
  while (!lines.empty()) {
    const std::string_view line = take_line(lines);
    if (line.empty()) break;
    if (fields.size() == kMaxFields) return corrupt_framing("more than 256 header lines");
    fields.push_back(PD_TRY(parse_field(line)));
  }
  return fields;
}

Result<std::optional<Body>> declared_body(const Fields& fields) {
  const auto lengths = fields_named(fields, "content-length");
  const auto codings = fields_named(fields, "transfer-encoding");
  if (lengths.size() + codings.size() > 1)
    return corrupt_framing("the length of the body given twice");
  if (!codings.empty()) {
    if (lower_case(codings[0]->value) != "chunked") {
      return corrupt_framing("transfer coding " + quoted(codings[0]->value));
    }
    return std::optional(Body{.kind = BodyKind::chunked, .size = 0});
  }
  if (lengths.empty()) return std::optional<Body>();
  const auto size = parse_u64(lengths[0]->value);
  if (!size || *size > uint64_t{std::numeric_limits<int64_t>::max()}) {
    return corrupt_framing("content-length " + quoted(lengths[0]->value));
  }
  return std::optional(Body{.kind = BodyKind::sized, .size = *size});
}

}  // namespace paddock::egress::http
