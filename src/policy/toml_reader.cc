#include <fmt/core.h>

#include "base/strings.h"
#include "policy/raw_value.h"

// Only the parser is used.
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace paddock::policy {
namespace {

Error refused(std::string_view path, uint32_t line, std::string_view why) {
  return Error(Code::invalid_argument, fmt::format("{}:{}: {}", printable(path), line, why));
}

// toml++ keeps tables as nested objects and frees them by recursion: the length of a line bounds
// how deep "a.a.a.a…" can go, before it sees any of it.
Status check_bytes(std::string_view text, std::string_view path) {
  if (text.size() > kMaxFileBytes) {
    return refused(path, 1, fmt::format("larger than {}", format_bytes(kMaxFileBytes)));
  }
  uint32_t number = 0;
  while (!text.empty()) {
    ++number;
    std::string_view line = text.substr(0, text.find('\n'));
    if (line.size() > kMaxLineBytes) {
      return refused(path, number, fmt::format("line longer than {} bytes", kMaxLineBytes));
    }
    if (!is_valid_utf8(line)) return refused(path, number, "not valid UTF-8");
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return {};
}

// Turns nodes of toml++ into RawValues. `line` is where the nearest key stands.
class Converter {
 public:
  explicit Converter(std::string_view path) : path_(path) {}

  Result<RawValue> convert(const toml::node& node, size_t depth, uint32_t line) const {
    if (depth > kMaxDepth) return refused(path_, line, "nested too deep");
    if (const toml::table* table = node.as_table()) return convert_table(*table, depth, line);
    if (const toml::array* array = node.as_array()) return convert_list(*array, depth, line);
    RawValue raw = scalar(node);
    if (raw.text.size() > kMaxTextBytes) return refused(path_, line, "text too long");
    return raw;
  }

 private:
  Result<RawValue> convert_table(const toml::table& table, size_t depth, uint32_t line) const {
    if (table.size() > kMaxEntries) return refused(path_, line, "too many keys in one table");
    RawValue raw{.type = RawType::table};
    for (const auto& [key, node] : table) {
      uint32_t at = key.source().begin.line;
      if (key.str().size() > kMaxTextBytes) return refused(path_, at, "key too long");
      RawMember member{.name = std::string(key.str()), .line = at, .value = {}};
      member.value = PD_TRY(convert(node, depth + 1, at));
      raw.members.push_back(std::move(member));
    }
    return raw;
  }

  Result<RawValue> convert_list(const toml::array& array, size_t depth, uint32_t line) const {
    if (array.size() > kMaxEntries) return refused(path_, line, "too many entries in one list");
    RawValue raw{.type = RawType::list};
    for (const toml::node& node : array) {
      raw.items.push_back(PD_TRY(convert(node, depth + 1, line)));
    }
    return raw;
  }

  static RawValue scalar(const toml::node& node) {
    if (const auto* text = node.as_string()) return {.type = RawType::string, .text = text->get()};
    if (const auto* number = node.as_integer()) {
      return {.type = RawType::integer, .text = std::to_string(number->get())};
    }
    if (const auto* number = node.as_floating_point()) {
      return {.type = RawType::real, .text = fmt::format("{}", number->get())};
    }
    if (const auto* flag = node.as_boolean()) {
      return {.type = RawType::boolean, .text = flag->get() ? "true" : "false"};
    }
    return {.type = RawType::date, .text = "a date"};
  }

  std::string_view path_;
};

}  // namespace

std::string_view describe(RawType type) {
  switch (type) {
    case RawType::string:
      return "a string";
    case RawType::integer:
      return "an integer";
    case RawType::real:
      return "a decimal number";
    case RawType::boolean:
      return "a boolean";
    case RawType::date:
      return "a date";
    case RawType::list:
      return "a list";
    case RawType::table:
      return "a table";
  }
  return "";
}

Result<RawValue> parse_toml(std::string_view text, std::string_view path) {
  PD_TRY(check_bytes(text, path));
  toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return refused(path, error.source().begin.line, printable(error.description()));
  }
  return Converter(path).convert(parsed.table(), 0, 1);
}

}  // namespace paddock::policy
