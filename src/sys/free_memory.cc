#include "sys/free_memory.h"

#include <charconv>
#include <string>
#include <string_view>

#include "sys/files.h"

namespace paddock::sys {
namespace {

// Of a line "MemTotal:       24689424 kB".
uint64_t bytes_of(std::string_view text, std::string_view name) {
  const size_t line = text.find(name);
  if (line == std::string_view::npos) return 0;
  const size_t number = text.find_first_not_of(' ', line + name.size());
  if (number == std::string_view::npos) return 0;
  uint64_t kilobytes = 0;
  (void)std::from_chars(text.data() + number, text.data() + text.size(), kilobytes);
  return kilobytes * 1024;
}

}  // namespace

FreeMemory free_memory() {
  const auto text = read_file("/proc/meminfo");
  if (!text.ok()) return {};
  return {bytes_of(*text, "MemTotal:"), bytes_of(*text, "MemAvailable:")};
}

}  // namespace paddock::sys
