// Frames on the agent's byte stream: an 8-byte header (little endian: u32 payload length, u8 type,
// u8 zero, u16 zero), then for everything but control frames a u32 stream id, then the payload. The
// length counts neither header nor stream id. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace paddock::wire {

using StreamId = uint32_t;  // chosen by the host, never 0

inline constexpr uint32_t kProtocolVersion = 1;
inline constexpr size_t kHeaderBytes = 8;
inline constexpr size_t kStreamIdBytes = 4;
// The host is trusted by the agent and sends argument lists and environments; the agent is not
// trusted by the host and has little to say.
inline constexpr uint32_t kMaxControlToAgent = 8u << 20;
inline constexpr uint32_t kMaxControlToHost = 64u << 10;
// Bytes that each side may send on a new stream: a command's, and a connection's, of which there
// may be a thousand and each side keeps that much of every one.
inline constexpr uint32_t kInitialCredit = 256u << 10;
inline constexpr uint32_t kConnectionCredit = 64u << 10;
// Start.keep_output and Start.note.
inline constexpr uint64_t kMaxKeptOutput = 1u << 20;
inline constexpr size_t kMaxNote = 32u << 10;

enum class FrameType : uint8_t {
  control = 1,  // a serialised ToAgent or ToHost; never empty
  data = 2,     // bytes of one stream, within its credit; never empty
  end = 3,      // no more data follows on the stream (half-close); empty payload
  credit = 4,   // u32: that many bytes of the stream were consumed; never 0
  reset = 5,    // the reader does not want the rest; the writer stops and ends. Empty payload
  abort = 6,    // both directions are broken off: an end and a reset in one. Empty payload
};

// A whole frame within the bytes it was parsed from.
struct Frame {
  FrameType type;
  StreamId stream = 0;  // 0 for control
  std::string_view payload;
  size_t size;  // header, stream id and payload
};

// The first frame of `bytes`; nullopt: not all of it is there yet. data_corrupt as soon as the
// header shows that it breaks the rules above, however little of the payload has come; so a reader
// never buffers more than one frame of the allowed length.
Result<std::optional<Frame>> parse_frame(std::string_view bytes, uint32_t max_control);

// Appends header and stream id (none for control) of a frame whose payload the caller appends next.
void append_frame_head(std::string& out, FrameType type, StreamId stream, uint32_t payload_bytes);

void append_u32(std::string& out, uint32_t value);
uint32_t read_u32(std::string_view bytes);  // precondition: four bytes at least

}  // namespace paddock::wire
