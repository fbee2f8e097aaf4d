#include "view/host_exec/host_exec_fold.h"

#include <array>
#include <cstdint>

#include "base/strings.h"

namespace paddock::view {
namespace {

struct Range {
  uint32_t first, last;
};

// Default_Ignorable_Code_Point of Unicode 12.1, the table of the kernel's fs/unicode.
constexpr std::array kIgnored{
    Range{0x00AD, 0x00AD},   Range{0x034F, 0x034F},   Range{0x061C, 0x061C},
    Range{0x115F, 0x1160},   Range{0x17B4, 0x17B5},   Range{0x180B, 0x180F},
    Range{0x200B, 0x200F},   Range{0x202A, 0x202E},   Range{0x2060, 0x206F},
    Range{0x3164, 0x3164},   Range{0xFE00, 0xFE0F},   Range{0xFEFF, 0xFEFF},
    Range{0xFFA0, 0xFFA0},   Range{0xFFF0, 0xFFF8},   Range{0x1BCA0, 0x1BCA3},
    Range{0x1D173, 0x1D17A}, Range{0xE0000, 0xE0FFF},
};

struct Mapping {
  uint32_t code;
  std::string_view ascii;
};

// The code points beyond ASCII whose full case folding is ASCII.
constexpr std::array kMapped{
    Mapping{0x00DF, "ss"},  Mapping{0x017F, "s"},  Mapping{0x1E9E, "ss"}, Mapping{0x212A, "k"},
    Mapping{0xFB00, "ff"},  Mapping{0xFB01, "fi"}, Mapping{0xFB02, "fl"}, Mapping{0xFB03, "ffi"},
    Mapping{0xFB04, "ffl"}, Mapping{0xFB05, "st"}, Mapping{0xFB06, "st"},
};

struct Decoded {
  uint32_t code = 0;
  size_t length = 0;  // 0: not well-formed UTF-8
};

size_t length_of_lead(unsigned char lead) {
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

Decoded decode_multibyte(std::string_view text) {
  size_t length = length_of_lead(static_cast<unsigned char>(text[0]));
  if (length == 0 || length > text.size()) return {};
  uint32_t code = static_cast<unsigned char>(text[0]) & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) return {};
    code = code << 6 | (byte & 0x3Fu);
  }
  return {code, length};
}

bool is_ignored(uint32_t code) {
  for (const Range& range : kIgnored) {
    if (code >= range.first && code <= range.last) return true;
  }
  return false;
}

std::string_view ascii_of(uint32_t code) {
  for (const Mapping& mapping : kMapped) {
    if (mapping.code == code) return mapping.ascii;
  }
  return {};
}

// git~1 is what vfat and ntfs call .git when they make short names.
bool is_short_name_of_git(std::string_view name) {
  return name.size() == 5 && name.substr(0, 4) == "git~" && name[4] >= '1' && name[4] <= '9';
}

}  // namespace

std::string fold_name(std::string_view name) {
  std::string folded;
  for (size_t i = 0; i < name.size();) {
    char c = name[i];
    if (static_cast<unsigned char>(c) < 0x80) {
      folded += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      ++i;
      continue;
    }
    Decoded decoded = decode_multibyte(name.substr(i));
    size_t length = decoded.length == 0 ? 1 : decoded.length;
    std::string_view ascii = decoded.length == 0 ? std::string_view() : ascii_of(decoded.code);
    if (!ascii.empty()) {
      folded += ascii;
    } else if (decoded.length == 0 || !is_ignored(decoded.code)) {
      folded += name.substr(i, length);
    }
    i += length;
  }
  size_t end = folded.find_last_not_of(". ");
  if (end != std::string::npos) folded.resize(end + 1);
  return is_short_name_of_git(folded) ? ".git" : folded;
}

std::vector<std::string> fold_path(std::string_view path) {
  std::vector<std::string> components;
  for (const std::string& name : split(path, '/')) {
    if (name.empty() || name == ".") continue;
    if (name != "..") {
      components.push_back(fold_name(name));
    } else if (!components.empty()) {
      components.pop_back();
    }
  }
  return components;
}

}  // namespace paddock::view
