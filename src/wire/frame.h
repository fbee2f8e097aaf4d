// Frames on the agent's byte stream: an 8-byte header (little endian: u32 payload length, u8 type, u8
// zero, u16 zero), then for everything but control frames a u32 stream id, then the payload.
#pragma once

#include <cstdint>

namespace paddock::wire {

inline constexpr uint32_t kProtocolVersion = 1;
inline constexpr size_t kHeaderBytes = 8;
inline constexpr uint32_t kMaxPayload = 1u << 20;      // a longer frame is a violation
inline constexpr uint32_t kInitialCredit = 256u << 10; // bytes each side may send on a new stream

enum class FrameType : uint8_t {
  control = 1,  // a serialised ToAgent or ToHost
  data = 2,     // bytes of one stream, within its credit
  end = 3,      // no more data follows on the stream (half-close); empty payload
  credit = 4,   // u32: that many bytes of the stream were consumed
  reset = 5,    // the reader does not want the rest; the writer stops
};

}  // namespace paddock::wire
