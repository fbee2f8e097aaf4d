#include <fmt/core.h>

#include <algorithm>

#include "base/strings.h"
#include "policy/raw_value.h"

// toml++ 3.3 asserts on some malformed input ("[.]"), and with NDEBUG takes the same assertions as
// facts, which is undefined behaviour that a hostile file can reach. Here a failed assertion is an
// exception, as its syntax errors are, caught in parse_toml.
namespace {
struct ParserAssertion {};
[[noreturn]] void fail_assertion() {
  throw ParserAssertion{};
}
}  // namespace
#undef NDEBUG
#define TOML_ASSERT(expr) ((expr) ? void() : fail_assertion())
#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0  // only the parser is used
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

bool asserts(std::string_view text) {
  try {
    (void)toml::parse(text);
  } catch (const toml::parse_error&) {
  } catch (const ParserAssertion&) {
    return true;
  }
  return false;
}

// The parser reads forward, so the shortest run of lines that still fails the assertion ends with
// the line at fault.
uint32_t line_of_assertion(std::string_view text) {
  std::vector<size_t> ends;  // of lines
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' || i + 1 == text.size()) ends.push_back(i + 1);
  }
  auto at = std::partition_point(ends.begin(), ends.end(),
                                 [&](size_t end) { return !asserts(text.substr(0, end)); });
  return static_cast<uint32_t>(at - ends.begin()) + 1;
}

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
  try {
    toml::table table = toml::parse(text);
    return Converter(path).convert(table, 0, 1);
  } catch (const toml::parse_error& error) {
    return refused(path, error.source().begin.line, printable(error.description()));
  } catch (const ParserAssertion&) {
    return refused(path, line_of_assertion(text), "not valid TOML");
  }
}

}  // namespace paddock::policy
