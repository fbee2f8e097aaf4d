#include "base/base64.h"

#include <cstdint>

namespace paddock {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

Error not_base64() {
  return Error(Code::invalid_argument, "not padded base64");
}

// One group of four characters, `padding` of them '='; appends 3 - padding bytes.
bool decode_group(std::string_view group, size_t padding, std::string& out) {
  uint32_t bits = 0;
  for (size_t i = 0; i < 4; ++i) {
    size_t digit = i < 4 - padding ? kAlphabet.find(group[i]) : 0;
    if (digit == std::string_view::npos) return false;
    bits = bits << 6 | static_cast<uint32_t>(digit);
  }
  if ((bits & ((1u << (8 * padding)) - 1)) != 0) return false;
  for (size_t i = 0; i < 3 - padding; ++i) out += static_cast<char>(bits >> (16 - 8 * i) & 0xff);
  return true;
}

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    std::string_view group = bytes.substr(at, 3);
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < group.size() ? static_cast<uint8_t>(group[i]) : 0u);
    }
    for (size_t i = 0; i < 4; ++i) {
      out += i <= group.size() ? kAlphabet[bits >> (18 - 6 * i) & 63] : '=';
    }
  }
  return out;
}

Result<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return not_base64();
  std::string out;
  out.reserve(text.size() / 4 * 3);
  for (size_t at = 0; at < text.size(); at += 4) {
    std::string_view group = text.substr(at, 4);
    bool last = at + 4 == text.size();
    size_t padding = !last ? 0 : group.substr(2) == "==" ? 2 : group[3] == '=' ? 1 : 0;
    if (!decode_group(group, padding, out)) return not_base64();
  }
  return out;
}

}  // namespace paddock
