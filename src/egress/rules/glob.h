// Globs on text without structure: `*` is any bytes, `?` one byte. (Paths go through base's
// glob_match, where `*` stops at a slash.)
#pragma once

#include <string_view>

namespace paddock::egress {

// Time is bounded by pattern × text.
bool text_glob(std::string_view pattern, std::string_view text);

}  // namespace paddock::egress
