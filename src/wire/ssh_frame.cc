#include "wire/ssh_frame.h"

#include "base/strings.h"

namespace paddock::wire {
namespace {

constexpr size_t kHead = 5;

uint32_t length_of(std::string_view head) {
  uint32_t length = 0;
  for (size_t i = 1; i < kHead; ++i) length = length << 8 | static_cast<uint8_t>(head[i]);
  return length;
}

}  // namespace

std::string encode_ssh_frame(SshFrameKind kind, std::string_view payload) {
  std::string out(1, static_cast<char>(kind));
  const auto length = static_cast<uint32_t>(payload.size());
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(length >> shift & 0xff);
  out += payload;
  return out;
}

Result<std::optional<SshFrame>> take_ssh_frame(std::string& bytes) {
  if (bytes.size() < kHead) return std::optional<SshFrame>();
  const auto kind = static_cast<SshFrameKind>(bytes[0]);
  const size_t length = length_of(bytes);
  if (kind < SshFrameKind::setup || kind > SshFrameKind::exit || length > kMaxSshPayload) {
    return Error(Code::data_corrupt, "paddock-ssh: bytes that are no frame");
  }
  if (bytes.size() < kHead + length) return std::optional<SshFrame>();
  SshFrame frame{.kind = kind, .payload = bytes.substr(kHead, length)};
  bytes.erase(0, kHead + length);
  return std::optional(std::move(frame));
}

std::string join_fields(const std::vector<std::string>& fields) {
  std::string out;
  for (const std::string& field : fields) out += field + '\0';
  return out;
}

std::vector<std::string> split_fields(std::string_view payload) {
  if (!payload.ends_with('\0')) return {};
  return split(payload.substr(0, payload.size() - 1), '\0');
}

}  // namespace paddock::wire
