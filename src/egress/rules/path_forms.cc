#include "egress/rules/path_forms.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/hex.h"
#include "base/strings.h"

namespace paddock::egress {
namespace {

constexpr int kMaxDecodings = 3;

// The byte of an escape at the start of `text`, or -1.
int escaped_byte(std::string_view text) {
  if (text.size() < 3 || text[0] != '%') return -1;
  const int high = hex_value(text[1]);
  const int low = hex_value(text[2]);
  return high < 0 || low < 0 ? -1 : high << 4 | low;
}

bool is_unreserved(int byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == '_' || byte == '~';
}

// RFC 3986 section 6.2.2: unreserved characters unescaped, other escapes in capitals.
std::string normalised(std::string_view raw) {
  std::string out;
  for (size_t i = 0; i < raw.size(); ++i) {
    const int byte = escaped_byte(raw.substr(i));
    if (byte < 0) {
      out += raw[i];
      continue;
    }
    if (is_unreserved(byte)) {
      out += static_cast<char>(byte);
    } else {
      out += fmt::format("%{:02X}", byte);
    }
    i += 2;
  }
  return out;
}

enum class PathParameters { kept, dropped };

// Backslashes as slashes, empty and dot segments resolved, a slash at the end kept.
std::string resolved(std::string_view path, PathParameters parameters) {
  std::string slashes(path);
  std::replace(slashes.begin(), slashes.end(), '\\', '/');
  std::vector<std::string> kept;
  bool directory = false;
  for (std::string& segment : split(slashes, '/')) {
    if (parameters == PathParameters::dropped)
      segment.resize(std::min(segment.size(), segment.find(';')));
    directory = segment.empty() || segment == "." || segment == "..";
    if (segment == ".." && !kept.empty()) kept.pop_back();
    if (!directory) kept.push_back(std::move(segment));
  }
  std::string out = "/" + join(kept, "/");
  if (directory && out.size() > 1) out += '/';
  return out;
}

void add(std::vector<std::string>& forms, std::string form) {
  if (std::find(forms.begin(), forms.end(), form) == forms.end()) forms.push_back(std::move(form));
}

}  // namespace

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const int byte = escaped_byte(text.substr(i));
    out += byte < 0 ? text[i] : static_cast<char>(byte);
    if (byte >= 0) i += 2;
  }
  return out;
}

Result<std::vector<std::string>> path_forms(std::string_view raw) {
  if (!raw.starts_with('/')) {
    return Error(Code::invalid_argument,
                 fmt::format("'{}' is not a path", printable(raw.substr(0, 80))));
  }
  std::vector<std::string> forms{normalised(raw)};
  std::string text(raw);
  for (int round = 0;; ++round) {
    std::string decoded = percent_decoded(text);
    add(forms, resolved(decoded, PathParameters::kept));
    add(forms, resolved(decoded, PathParameters::dropped));
    if (decoded == text) return forms;
    if (round == kMaxDecodings) break;
    text = std::move(decoded);
  }
  return Error(Code::invalid_argument, fmt::format("path '{}' is escaped more than {} times over",
                                                   printable(raw.substr(0, 80)), kMaxDecodings));
}

}  // namespace paddock::egress
