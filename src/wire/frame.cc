#include "wire/frame.h"

#include <bit>
#include <cstring>

#include "wire/violation.h"

namespace paddock::wire {
namespace {

static_assert(std::endian::native == std::endian::little,
              "frames are copied as they are in memory");

struct Rule {
  uint32_t least;
  uint32_t most;
};

// Payload bytes that a frame of `type` may have; nullopt: no such type.
std::optional<Rule> rule_of(uint8_t type, uint32_t max_control) {
  switch (static_cast<FrameType>(type)) {
    case FrameType::control:
      return Rule{1, max_control};
    case FrameType::data:
      return Rule{1, kInitialCredit};
    case FrameType::end:
      return Rule{0, 0};
    case FrameType::credit:
      return Rule{4, 4};
    case FrameType::reset:
      return Rule{0, 0};
    case FrameType::abort:
      return Rule{0, 0};
  }
  return std::nullopt;
}

}  // namespace

void append_u32(std::string& out, uint32_t value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

uint32_t read_u32(std::string_view bytes) {
  uint32_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

void append_frame_head(std::string& out, FrameType type, StreamId stream, uint32_t payload_bytes) {
  append_u32(out, payload_bytes);
  append_u32(out, static_cast<uint8_t>(type));
  if (type != FrameType::control) append_u32(out, stream);
}

Result<std::optional<Frame>> parse_frame(std::string_view bytes, uint32_t max_control) {
  if (bytes.size() < kHeaderBytes) return std::optional<Frame>();
  const uint32_t length = read_u32(bytes);
  const uint32_t kind = read_u32(bytes.substr(4));
  const auto rule = kind > 0xff ? std::nullopt : rule_of(static_cast<uint8_t>(kind), max_control);
  if (!rule) return protocol_violation("frame of unknown type " + std::to_string(kind));
  if (length < rule->least || length > rule->most) {
    return protocol_violation("frame of type " + std::to_string(kind) + " with " +
                              std::to_string(length) + " bytes");
  }
  Frame frame{.type = static_cast<FrameType>(kind), .payload = {}, .size = 0};
  size_t head = kHeaderBytes;
  if (frame.type != FrameType::control) {
    head += kStreamIdBytes;
    if (bytes.size() < head) return std::optional<Frame>();
    frame.stream = read_u32(bytes.substr(kHeaderBytes));
    if (frame.stream == 0) return protocol_violation("frame on stream 0");
  }
  frame.size = head + length;
  if (bytes.size() < frame.size) return std::optional<Frame>();
  frame.payload = bytes.substr(head, length);
  return std::optional<Frame>(frame);
}

}  // namespace paddock::wire
