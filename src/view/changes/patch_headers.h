#pragma once

#include <string>
#include <string_view>

namespace paddock::view {

// git writes names with blanks plainly into "diff --git" lines and cannot read some of them back
// where nothing but that line names the file (an empty file, a change of mode). Puts such names in
// quotes, which it always reads.
std::string quote_headers(std::string_view patch);

}  // namespace paddock::view
