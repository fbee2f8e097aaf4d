// What passes between the gate and `paddock-ssh`, the program that speaks ssh for it: frames on a
// stream socket, each a kind, a length and its payload. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace paddock::wire {

enum class SshFrameKind : uint8_t {
  setup = 1,   // gate: fields, as the side that it is for wants them
  request,     // serve: fields; what the program asks for
  ready,       // dial: the command runs there
  failed,      // serve, dial: fields; nothing follows
  data,        // bytes of standard input or output
  error_data,  // bytes of standard error
  end,         // of standard input or output
  exit,        // status in decimal; nothing follows
};

struct SshFrame {
  SshFrameKind kind = SshFrameKind::data;
  std::string payload;
};

inline constexpr size_t kMaxSshPayload = 256 * 1024;
inline constexpr size_t kSshPiece = 32 * 1024;  // of data, as a rule

std::string encode_ssh_frame(SshFrameKind kind, std::string_view payload);

// Takes a whole frame off the front; nullopt: more bytes are needed. data_corrupt: no frame.
Result<std::optional<SshFrame>> take_ssh_frame(std::string& bytes);

// Fields hold no NUL.
std::string join_fields(const std::vector<std::string>& fields);
std::vector<std::string> split_fields(std::string_view payload);

}  // namespace paddock::wire
