// How long the body of an HTTP/1 message is, and the lines it is made of. Strict on purpose: where
// two programs could see two messages in the same bytes, one of them is the attacker's (request
// smuggling, RFC 9112 section 11.2), so such bytes are refused and never repaired.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "egress/http/message.h"

namespace paddock::egress::http {

enum class BodyKind { none, sized, chunked, until_close };

struct Body {
  BodyKind kind = BodyKind::none;
  uint64_t size = 0;  // of BodyKind::sized
};

inline constexpr size_t kMaxHead = 64 * 1024;
inline constexpr size_t kMaxFields = 256;

// The head's bytes, up to and with the empty line. nullopt: more must be read. data_corrupt: longer
// than kMaxHead, or a line that does not end in CR LF.
Result<std::optional<std::string_view>> find_head(std::string_view stream);

// Takes the first line off, without its CR LF.
std::string_view take_line(std::string_view& head);

// The lines behind the first, up to the empty one: no continuation lines, no blank before the
// colon, no control characters.
Result<Fields> parse_fields(std::string_view lines);

// From Content-Length and Transfer-Encoding: one of them at most, once, and no coding but chunked.
Result<std::optional<Body>> declared_body(const Fields& fields);

bool is_token(std::string_view text);

}  // namespace paddock::egress::http
