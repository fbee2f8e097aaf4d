// Builds frames by hand, for tests that speak as a hostile other side.
#pragma once

#include <string>
#include <string_view>

#include "wire/frame.h"

namespace paddock::wire::testing {

inline std::string frame(FrameType type, StreamId stream, std::string_view payload) {
  std::string out;
  append_frame_head(out, type, stream, static_cast<uint32_t>(payload.size()));
  return out.append(payload);
}

inline std::string u32(uint32_t value) {
  std::string out;
  append_u32(out, value);
  return out;
}

template <typename Message>
std::string control(const Message& message) {
  return frame(FrameType::control, 0, message.SerializeAsString());
}

}  // namespace paddock::wire::testing
