#include "egress/git/packet.h"

#include <fmt/core.h>

#include <charconv>

namespace paddock::egress::git {
namespace {

constexpr size_t kDigits = 4;

Error corrupt_packet(std::string why) {
  return Error(Code::data_corrupt, "reading git's packets: " + std::move(why));
}

}  // namespace

Result<std::optional<size_t>> packet_length(std::string_view rest) {
  if (rest.size() < kDigits) return std::optional<size_t>();
  size_t length = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + kDigits, length, 16);
  if (error != std::errc() || end != rest.data() + kDigits) {
    return corrupt_packet("a packet has no length");
  }
  if (length != 0 && length <= kDigits) return corrupt_packet("a packet is too short");
  if (length > kMaxPacket) return corrupt_packet("a packet is too long");
  return std::optional(length);
}

Result<std::optional<Packet>> take_packet(std::string_view& rest) {
  const std::optional<size_t> length = PD_TRY(packet_length(rest));
  if (!length || rest.size() < *length) return std::optional<Packet>();
  Packet packet{.flush = *length == 0, .bytes = {}};
  if (!packet.flush) packet.bytes = rest.substr(kDigits, *length - kDigits);
  rest.remove_prefix(packet.flush ? kDigits : *length);
  return std::optional(packet);
}

std::string_view Packet::text() const {
  return bytes.substr(0, bytes.size() - (bytes.ends_with('\n') ? 1 : 0));
}

std::string packet(std::string_view text) {
  return fmt::format("{:04x}{}", text.size() + kDigits, text);
}

}  // namespace paddock::egress::git
