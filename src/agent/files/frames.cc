#include "agent/files/frames.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "sys/files.h"

namespace paddock::agent::files {
namespace {

// 0: the end.
Result<size_t> read_some(const sys::Fd& input, char* to, size_t room) {
  while (true) {
    const ssize_t count = ::read(input.get(), to, room);
    if (count >= 0) return static_cast<size_t>(count);
    if (errno != EINTR) return Error::from_errno(errno, "reading what is to be written");
  }
}

Error cut_short() {
  return Error(Code::unavailable, "the input ended too early");
}

}  // namespace

Result<uint32_t> read_frame_length(const sys::Fd& input) {
  std::array<char, 4> bytes{};
  for (size_t have = 0; have < bytes.size();) {
    const size_t count = PD_TRY(read_some(input, bytes.data() + have, bytes.size() - have));
    if (count == 0) return cut_short();
    have += count;
  }
  uint32_t length = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    length |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  if (length > kMaxFrame) return Error(Code::invalid_argument, "a frame that is too long");
  return length;
}

Status write_frame(const sys::Fd& output, std::string_view bytes) {
  std::string head;
  for (int shift = 0; shift < 32; shift += 8) {
    head.push_back(static_cast<char>(bytes.size() >> shift & 0xff));
  }
  PD_TRY(sys::write_all(output, head));
  return sys::write_all(output, bytes);
}

Status copy(const sys::Fd& input, const sys::Fd& output, uint64_t count) {
  static std::array<char, 64u << 10> buffer;  // the program has one thread
  while (count > 0) {
    const size_t room = std::min<uint64_t>(buffer.size(), count);
    const size_t got = PD_TRY(read_some(input, buffer.data(), room));
    if (got == 0) return cut_short();
    PD_TRY(sys::write_all(output, {buffer.data(), got}));
    count -= got;
  }
  return {};
}

}  // namespace paddock::agent::files
