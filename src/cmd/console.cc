#include "cmd/console.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include "base/strings.h"
#include "sys/clock.h"
#include "sys/terminal.h"

namespace paddock::cmd {
namespace {

void write_to(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t n = ::write(fd, text.data(), text.size());
    if (n <= 0) return;  // nobody reads: there is nobody to tell
    text.remove_prefix(static_cast<size_t>(n));
  }
}

size_t width_of(std::string_view cell) {
  return static_cast<size_t>(
      std::count_if(cell.begin(), cell.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

std::string styled(int fd, Style style, std::string_view text) {
  const char* no_color = std::getenv("NO_COLOR");
  bool plain =
      style == Style::plain || !sys::is_terminal(fd) || (no_color != nullptr && *no_color != '\0');
  if (plain) return std::string(text);
  constexpr std::array<std::string_view, 6> kCodes{"", "1", "2", "31", "32", "33"};
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<size_t>(style)], text);
}

void say(std::string_view text) {
  write_to(STDERR_FILENO, fmt::format("paddock: {}\n", text));
}

void say_error(const Error& error) {
  say(styled(STDERR_FILENO, Style::red, "error: ") + error.describe());
  if (!error.remedy().empty()) say(styled(STDERR_FILENO, Style::bold, "try: ") + error.remedy());
}

void print(std::string_view text) {
  write_to(STDOUT_FILENO, text);
}

void print_untrusted(std::string_view text) {
  if (!sys::is_terminal(STDOUT_FILENO)) return print(text);
  std::string out;
  for (const std::string& line : split(text, '\n')) {
    Style style = line.starts_with("diff --git ") ? Style::bold
                  : line.starts_with("@@")        ? Style::dim
                  : line.starts_with("+")         ? Style::green
                  : line.starts_with("-")         ? Style::red
                                                  : Style::plain;
    std::vector<std::string> cells = split(line, '\t');
    for (std::string& cell : cells) cell = printable(cell);
    out += styled(STDOUT_FILENO, style, join(cells, "\t")) + "\n";
  }
  if (!out.empty()) out.pop_back();
  print(out);
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  std::vector<std::vector<std::string>> cells;
  for (const auto& row : rows) {
    auto& line = cells.emplace_back();
    for (size_t i = 0; i < row.size(); ++i) {
      line.push_back(printable(row[i]));
      if (i == widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], width_of(line.back()));
    }
  }
  std::string out;
  for (const auto& line : cells) {
    for (size_t i = 0; i < line.size(); ++i) {
      out += line[i];
      if (i + 1 < line.size()) out.append(widths[i] - width_of(line[i]) + 2, ' ');
    }
    out += '\n';
  }
  return out;
}

std::string plural(uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string ago(int64_t then_ms) {
  int64_t seconds = std::max<int64_t>(0, (sys::wall_clock_ms() - then_ms) / 1000);
  if (seconds < 60) return plural(static_cast<uint64_t>(seconds), "second") + " ago";
  if (seconds < 3600) return plural(static_cast<uint64_t>(seconds / 60), "minute") + " ago";
  if (seconds < 86400) return plural(static_cast<uint64_t>(seconds / 3600), "hour") + " ago";
  return plural(static_cast<uint64_t>(seconds / 86400), "day") + " ago";
}

std::string approximate_bytes(uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string shell_words(const std::vector<std::string>& argv) {
  std::vector<std::string> words;
  for (const std::string& argument : argv) {
    bool plain = !argument.empty() && std::all_of(argument.begin(), argument.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) ||
             std::string_view("-_./=:,+@%^").find(c) != std::string_view::npos;
    });
    if (plain) {
      words.push_back(argument);
      continue;
    }
    std::string quoted = "'";
    for (char c : argument) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    words.push_back(printable(quoted + "'"));
  }
  return join(words, " ");
}

}  // namespace paddock::cmd
