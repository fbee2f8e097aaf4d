// What Paddock itself says to a person: on stderr beside a command's output, on stdout for commands
// whose answer it is. Bytes of a sandbox are escaped before they reach a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace paddock::cmd {

enum class Style { plain, bold, dim, red, green, yellow };

// Colour when the descriptor is a terminal and NO_COLOR is not set.
std::string styled(int fd, Style style, std::string_view text);

// "paddock: <text>" on stderr.
void say(std::string_view text);
// The error, and its remedy on a line of its own.
void say_error(const Error& error);
void print(std::string_view text);  // stdout, as it is
// Text with bytes of a sandbox in it, such as a patch. On a terminal each line is escaped, and the
// lines of a patch are coloured; elsewhere the bytes stay as they are.
void print_untrusted(std::string_view text);

// Left-aligned columns, two blanks apart, the last one ragged. Cells are escaped.
std::string table(const std::vector<std::vector<std::string>>& rows);

// "3 minutes ago" of a wall clock time in milliseconds.
std::string ago(int64_t then_ms);
// "1.5 MiB"; for people, not exact.
std::string approximate_bytes(uint64_t bytes);
std::string plural(uint64_t count, std::string_view noun);
// Quoted for a shell where needed.
std::string shell_words(const std::vector<std::string>& argv);

}  // namespace paddock::cmd
