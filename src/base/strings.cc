#include "base/strings.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

namespace paddock {
namespace {

struct Unit {
  char suffix;
  uint64_t factor;
};

constexpr std::array kByteUnits{Unit{'T', 1ull << 40}, Unit{'G', 1ull << 30}, Unit{'M', 1ull << 20},
                                Unit{'K', 1ull << 10}};
constexpr std::array kTimeUnits{Unit{'d', 86400}, Unit{'h', 3600}, Unit{'m', 60}, Unit{'s', 1}};

template <size_t N>
std::optional<uint64_t> parse_with_unit(std::string_view text, const std::array<Unit, N>& units,
                                        bool fold_case) {
  uint64_t factor = 1;
  if (!text.empty()) {
    char last = text.back();
    if (fold_case && last >= 'a' && last <= 'z') last = static_cast<char>(last - 'a' + 'A');
    for (const Unit& unit : units) {
      if (unit.suffix == last) {
        factor = unit.factor;
        text.remove_suffix(1);
        break;
      }
    }
  }
  auto number = parse_u64(text);
  uint64_t product = 0;
  if (!number || __builtin_mul_overflow(*number, factor, &product)) return std::nullopt;
  return product;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t substitution = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substitution, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// Length of the UTF-8 sequence at the start of `text`, 0 when it is not one.
size_t utf8_length(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  size_t length = byte(0) < 0x80                      ? 1
                  : byte(0) >= 0xc2 && byte(0) < 0xe0 ? 2
                  : (byte(0) & 0xf0) == 0xe0          ? 3
                  : byte(0) >= 0xf0 && byte(0) < 0xf5 ? 4
                                                      : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (length == 3 && ((byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xed && byte(1) > 0x9f))) {
    return 0;
  }
  if (length == 4 && ((byte(0) == 0xf0 && byte(1) < 0x90) || (byte(0) == 0xf4 && byte(1) > 0x8f))) {
    return 0;
  }
  return length;
}

// Matches one [...] class at the start of `pattern`; npos length when it is not closed.
struct ClassMatch {
  size_t length;
  bool matched;
};

ClassMatch match_class(std::string_view pattern, char c) {
  size_t i = 1;
  bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  bool matched = false;
  bool first = true;
  for (; i < pattern.size() && (first || pattern[i] != ']'); first = false) {
    char low = pattern[i];
    char high = low;
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
      high = pattern[i + 2];
      i += 2;
    }
    matched = matched || (low <= c && c <= high);
    ++i;
  }
  if (i >= pattern.size()) return {std::string_view::npos, false};
  return {i + 1, matched != negated && c != '/'};
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::optional<uint64_t> parse_u64(std::string_view text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

Result<uint64_t> parse_bytes(std::string_view text) {
  if (auto bytes = parse_with_unit(text, kByteUnits, true)) return *bytes;
  return Error(Code::invalid_argument,
               fmt::format("'{}' is not a size: use digits and K, M, G or T", printable(text)));
}

std::string format_bytes(uint64_t bytes) {
  for (const Unit& unit : kByteUnits) {
    if (bytes >= unit.factor && bytes % unit.factor == 0) {
      return fmt::format("{}{}", bytes / unit.factor, unit.suffix);
    }
  }
  return std::to_string(bytes);
}

Result<uint64_t> parse_seconds(std::string_view text) {
  if (auto seconds = parse_with_unit(text, kTimeUnits, false)) return *seconds;
  return Error(Code::invalid_argument,
               fmt::format("'{}' is not a duration: use digits and s, m, h or d", printable(text)));
}

std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string printable(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    size_t length = utf8_length(bytes);
    auto first = static_cast<unsigned char>(bytes[0]);
    bool control = first < 0x20 || first == 0x7f ||
                   (length == 2 && first == 0xc2 && static_cast<unsigned char>(bytes[1]) < 0xa0);
    if (length == 0 || control) {
      out += fmt::format("\\x{:02x}", first);
      bytes.remove_prefix(1);
    } else {
      if (first == '\\') out += '\\';
      out += bytes.substr(0, length);
      bytes.remove_prefix(length);
    }
  }
  return out;
}

bool is_valid_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    size_t length = utf8_length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

// Iterative matching with one backtrack point for `*` and one for `**`: linear in practice, never
// exponential on hostile patterns.
bool glob_match(std::string_view pattern, std::string_view text) {
  constexpr size_t kNone = std::string_view::npos;
  size_t p = 0, t = 0;
  size_t star_p = kNone, star_t = 0;  // after `*`: may swallow one more byte that is not '/'
  size_t globstar_p = kNone, globstar_t = 0;  // after `**`: may swallow any byte
  while (true) {
    if (p < pattern.size() && pattern.substr(p, 2) == "**") {
      p += 2;
      if (p < pattern.size() && pattern[p] == '/') ++p;  // "**/" also matches nothing
      globstar_p = p;
      globstar_t = t;
      star_p = kNone;
      continue;
    }
    if (p < pattern.size() && pattern[p] == '*') {
      star_p = ++p;
      star_t = t;
      continue;
    }
    if (t == text.size()) {
      if (p == pattern.size()) return true;
    } else if (p < pattern.size()) {
      size_t used = 1;
      bool matched = false;
      if (pattern[p] == '[') {
        ClassMatch in_class = match_class(pattern.substr(p), text[t]);
        if (in_class.length == kNone) {
          matched = text[t] == '[';
        } else {
          used = in_class.length;
          matched = in_class.matched;
        }
      } else {
        if (pattern[p] == '\\' && p + 1 < pattern.size()) ++p;
        matched = pattern[p] == '?' ? text[t] != '/' : pattern[p] == text[t];
      }
      if (matched) {
        p += used;
        ++t;
        continue;
      }
    }
    if (star_p != kNone && star_t < text.size() && text[star_t] != '/') {
      p = star_p;
      t = ++star_t;
    } else if (globstar_p != kNone && globstar_t < text.size()) {
      // "**/" resumes at component starts only; a bare "**" at every byte.
      bool by_component = globstar_p > 0 && pattern[globstar_p - 1] == '/';
      size_t next = globstar_t + 1;
      if (by_component) {
        next = text.find('/', globstar_t);
        if (next == kNone) return false;
        ++next;
      }
      globstar_t = next;
      p = globstar_p;
      t = globstar_t;
      star_p = kNone;
    } else {
      return false;
    }
  }
}

}  // namespace paddock
