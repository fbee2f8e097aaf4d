// Frames over a blocking descriptor: u32 little endian, then that many bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::agent::files {

inline constexpr uint32_t kMaxFrame = 1u << 20;

// unavailable: the input ended.
Result<uint32_t> read_frame_length(const sys::Fd& input);
Status write_frame(const sys::Fd& output, std::string_view bytes);
// Exactly `count` bytes.
Status copy(const sys::Fd& input, const sys::Fd& output, uint64_t count);

}  // namespace paddock::agent::files
