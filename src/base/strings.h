// Small text helpers that several layers need. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace paddock {

std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string_view trim(std::string_view text);

// Decimal digits only, no sign, no blanks, within the type. nullopt otherwise.
std::optional<uint64_t> parse_u64(std::string_view text);

// "512M", "4G", "64k", "1024": binary multiples, bytes. Error names the text.
Result<uint64_t> parse_bytes(std::string_view text);
std::string format_bytes(uint64_t bytes);  // shortest exact form: "4G", "1500"

// "90", "90s", "15m", "2h", "7d" in seconds.
Result<uint64_t> parse_seconds(std::string_view text);

// Levenshtein nearest of `candidates` to `word`, when near enough to be a likely slip.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

// Text safe for a terminal or a log line: control and non-UTF-8 bytes as \xHH, backslash doubled.
std::string printable(std::string_view bytes);
bool is_valid_utf8(std::string_view bytes);

// Shell glob on one path component or on a whole relative path: `*` and `?` stop at '/', `**`
// does not, `[...]` as in fnmatch(3).
bool glob_match(std::string_view pattern, std::string_view text);

}  // namespace paddock
