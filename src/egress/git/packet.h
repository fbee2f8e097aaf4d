// Git's packets ("pkt-lines"): four hex digits of length, themselves included, then as many bytes.
// "0000" is a flush.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace paddock::egress::git {

inline constexpr size_t kMaxPacket = 65520;
inline constexpr std::string_view kFlush = "0000";

// Length of the packet at the start, its four digits included; 0: a flush. nullopt: the digits are
// not there yet. data_corrupt: they are none, or a length that no packet has.
Result<std::optional<size_t>> packet_length(std::string_view rest);

// Takes packets off the front of bytes that may go on.
struct Packet {
  bool flush = false;
  std::string_view bytes;

  std::string_view text() const;  // without a line break at its end
};
// nullopt: more bytes are needed. `rest` is advanced only when a packet is returned.
Result<std::optional<Packet>> take_packet(std::string_view& rest);

// `text` has at most kMaxPacket - 4 bytes.
std::string packet(std::string_view text);

}  // namespace paddock::egress::git
