// How many lines differ between two texts.
#pragma once

#include <cstdint>
#include <string_view>

namespace paddock::view {

struct LineDiff {
  uint64_t added = 0;
  uint64_t deleted = 0;
};

// A zero byte among the first 8000, as git decides.
bool is_binary(std::string_view bytes);

// Lines of a shortest edit script; a last line without a newline is another line than one with it.
// Where the texts differ in very many lines the middle counts as replaced, which is an upper bound.
LineDiff diff_lines(std::string_view before, std::string_view after);

}  // namespace paddock::view
