// Names that a file system may take for each other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paddock::view {

// One spelling for all names that a case-folding file system of Linux (ext4 and f2fs casefold,
// vfat, exfat, ntfs) may open for the same file, as far as they can stand for an ASCII name: case,
// code points that Unicode folding ignores or maps to ASCII, trailing dots and blanks, the short
// name of .git. Other bytes stay as they are.
std::string fold_name(std::string_view name);

// The components of a relative path, folded; ".", ".." and empty ones resolved.
std::vector<std::string> fold_path(std::string_view path);

}  // namespace paddock::view
