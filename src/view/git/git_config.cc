#include "view/git/git_config.h"

#include <algorithm>
#include <cctype>

#include "base/strings.h"

namespace paddock::view {
namespace {

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

// Reads a value to the end of its logical line and drops that line from `rest`.
std::string take_value(std::string_view& rest) {
  std::string value;
  size_t kept = 0;  // blanks after this are trailing ones
  bool quoted = false;
  size_t i = 0;
  for (; i < rest.size() && (rest[i] != '\n'); ++i) {
    char c = rest[i];
    if (!quoted && (c == '#' || c == ';')) {
      i = std::min(rest.find('\n', i), rest.size());
      break;
    }
    if (c == '"') {
      quoted = !quoted;
      kept = value.size();
      continue;
    }
    if (c == '\\' && i + 1 < rest.size()) {
      c = rest[++i];
      if (c == '\n') continue;
      value += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'b' ? '\b' : c;
      kept = value.size();
      continue;
    }
    if (c == '\r' && i + 1 < rest.size() && rest[i + 1] == '\n') continue;
    bool blank = c == ' ' || c == '\t';
    if (blank && value.empty() && !quoted) continue;
    value += c;
    if (!blank || quoted) kept = value.size();
  }
  rest.remove_prefix(std::min(i + 1, rest.size()));
  value.resize(kept);
  return value;
}

}  // namespace

std::optional<std::string> git_config_value(std::string_view config, std::string_view section,
                                            std::string_view key) {
  constexpr std::string_view kBlank = " \t\r\n";
  std::optional<std::string> found;
  bool in_section = false;
  while (true) {
    size_t start = config.find_first_not_of(kBlank);
    if (start == std::string_view::npos) return found;
    config.remove_prefix(start);
    if (config[0] == '[') {
      size_t end = config.find_first_of("]\n");
      if (end == std::string_view::npos) return found;
      in_section = same_word(trim(config.substr(1, end - 1)), section);
      config.remove_prefix(end + 1);
      continue;
    }
    size_t end = config.find_first_of("=#;\n");
    bool has_value = end != std::string_view::npos && config[end] == '=';
    std::string_view name = trim(config.substr(0, end));
    bool matches = in_section && same_word(name, key);
    config.remove_prefix(has_value ? end + 1 : end == std::string_view::npos ? config.size() : end);
    std::string value = take_value(config);
    if (matches) found = has_value ? std::move(value) : "true";
  }
}

}  // namespace paddock::view
