#include "policy/value.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/strings.h"

namespace paddock::policy {
namespace {

constexpr size_t kMaxGlobBytes = 1024;
constexpr size_t kMaxNameBytes = 256;

Error unexpected(const Setting& setting, std::string_view found) {
  return Error(Code::invalid_argument,
               fmt::format("expected {}, found {}", expectation(setting), found));
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : is_valid_utf8(text) ? std::string(text) : printable(text)) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\';
    if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04X}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// --- numbers
// --------------------------------------------------------------------------------------

// Digits with at most three decimals, in thousandths.
std::optional<uint64_t> parse_thousandths(std::string_view text) {
  size_t point = text.find('.');
  auto whole = parse_u64(text.substr(0, point));
  uint64_t thousandths = 0;
  if (point != std::string_view::npos) {
    std::string decimals(text.substr(point + 1));
    if (decimals.empty() || decimals.size() > 3) return std::nullopt;
    decimals.resize(3, '0');
    auto parsed = parse_u64(decimals);
    if (!parsed) return std::nullopt;
    thousandths = *parsed;
  }
  uint64_t total = 0;
  if (!whole || __builtin_mul_overflow(*whole, uint64_t{1000}, &total)) return std::nullopt;
  return total + thousandths;
}

std::string format_thousandths(uint64_t thousandths) {
  std::string text = fmt::format("{}.{:03}", thousandths / 1000, thousandths % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string format_seconds(uint64_t seconds) {
  for (auto [suffix, factor] : {std::pair('d', 86400u), {'h', 3600u}, {'m', 60u}}) {
    if (seconds >= factor && seconds % factor == 0) {
      return fmt::format("{}{}", seconds / factor, suffix);
    }
  }
  return fmt::format("{}s", seconds);
}

std::string format_number(const Setting& setting, uint64_t number) {
  switch (setting.shape) {
    case Shape::size:
      return format_bytes(number);
    case Shape::duration:
      return format_seconds(number);
    case Shape::processors:
      return format_thousandths(number);
    default:
      return std::to_string(number);
  }
}

std::optional<uint64_t> parse_number(Shape shape, std::string_view text) {
  auto or_none = [](Result<uint64_t> result) {
    return result.ok() ? std::optional(result.value()) : std::nullopt;
  };
  switch (shape) {
    case Shape::size:
      return or_none(parse_bytes(text));
    case Shape::duration:
      return or_none(parse_seconds(text));
    case Shape::processors:
      return parse_thousandths(text);
    default:
      return parse_u64(text);
  }
}

Result<Value> number_of(const Setting& setting, std::string_view text) {
  if (!setting.unlimited.empty() && text == setting.unlimited) return Value(uint64_t{0});
  auto number = parse_number(setting.shape, text);
  if (!number || *number < setting.min || *number > setting.max) {
    return unexpected(setting, quoted(text));
  }
  return Value(*number);
}

// --- names, paths and patterns
// --------------------------------------------------------------------

Result<std::string> choice_of(const Setting& setting, std::string_view text) {
  for (std::string_view choice : setting.choices) {
    if (choice == text) return std::string(text);
  }
  return unexpected(setting, quoted(text));
}

bool is_env_name(std::string_view text) {
  auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && text.size() <= kMaxNameBytes && is_letter(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

bool is_profile_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
         });
}

// Relative, or where `absolute` is allowed from '/'; no empty, "." or ".." component.
bool is_clean_path(std::string_view text) {
  std::vector<std::string> parts = split(text, '/');
  return !trim(text).empty() && text.size() <= kMaxGlobBytes &&
         text.find('\0') == std::string_view::npos &&
         std::none_of(parts.begin(), parts.end(), [](const std::string& part) {
           return part.empty() || part == "." || part == "..";
         });
}

// No more than that it can be a host at all: what a name or address is, egress says.
bool is_host_text(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  std::string_view("-._:[]*/").find(c) != std::string_view::npos;
         });
}

Result<std::string> checked(const Setting& setting, std::string_view text, bool holds) {
  if (!holds) return unexpected(setting, quoted(text));
  return std::string(text);
}

Result<std::string> entry_of(const Setting& setting, std::string_view text,
                             const PathRules& rules) {
  switch (setting.shape) {
    case Shape::globs:
      return checked(setting, text, is_clean_path(text));
    case Shape::inside_paths:
      return checked(setting, text, is_clean_path(text.substr(text.substr(0, 1) == "/" ? 1 : 0)));
    case Shape::host_paths:
      return parse_host_path(text, rules);
    case Shape::mounts:
      return format_mount(PD_TRY(parse_mount(text, rules)));
    case Shape::sockets:
      return format_socket(PD_TRY(parse_socket(text, rules)));
    case Shape::presets:
      return choice_of(setting, text);
    case Shape::hosts:
      return checked(setting, text, is_host_text(text));
    default:
      return checked(setting, text, is_env_name(text));
  }
}

Result<std::string> text_of(const Setting& setting, std::string_view text, const PathRules& rules) {
  switch (setting.shape) {
    case Shape::choice:
      return choice_of(setting, text);
    case Shape::profile:
      return checked(setting, text, is_profile_name(text));
    default:
      return text == "host" ? std::string(text) : parse_host_path(text, rules);
  }
}

bool is_number(Shape shape) {
  return shape == Shape::size || shape == Shape::duration || shape == Shape::count ||
         shape == Shape::processors;
}

// --- from TOML
// ------------------------------------------------------------------------------------

bool takes_scalar(const Setting& setting, const RawValue& raw) {
  if (raw.type == RawType::integer) return is_number(setting.shape);
  if (raw.type == RawType::real) return setting.shape == Shape::processors;
  if (raw.type != RawType::string) return false;
  bool bare = setting.shape == Shape::count || setting.shape == Shape::processors;
  return !bare || raw.text == setting.unlimited;
}

// "none" stands alone, and is the empty list.
Result<List> settle_presets(const Setting& setting, List list) {
  if (setting.shape != Shape::presets || std::find(list.begin(), list.end(), "none") == list.end())
    return list;
  if (list.size() == 1) return List();
  return unexpected(setting, "\"none\" beside others");
}

Result<Value> list_from(const Setting& setting, const RawValue& raw, const PathRules& rules) {
  if (raw.type != RawType::list) return unexpected(setting, describe(raw.type));
  List list;
  for (const RawValue& item : raw.items) {
    if (item.type != RawType::string) {
      return unexpected(setting, fmt::format("{} in the list", describe(item.type)));
    }
    std::string entry = PD_TRY(entry_of(setting, item.text, rules));
    if (std::find(list.begin(), list.end(), entry) == list.end()) list.push_back(std::move(entry));
  }
  return Value(PD_TRY(settle_presets(setting, std::move(list))));
}

Result<Value> pairs_from(const Setting& setting, const RawValue& raw) {
  if (raw.type != RawType::table) return unexpected(setting, describe(raw.type));
  Pairs pairs;
  for (const RawMember& member : raw.members) {
    if (!is_env_name(member.name)) return unexpected(setting, "the name " + quoted(member.name));
    if (member.value.type != RawType::string) {
      return unexpected(setting, fmt::format("{} = {}", member.name, describe(member.value.type)));
    }
    if (member.value.text.find('\0') != std::string::npos) {
      return unexpected(setting, fmt::format("a zero byte in {}", member.name));
    }
    pairs[member.name] = member.value.text;
  }
  return Value(std::move(pairs));
}

Result<Value> pair_from_flag(const Setting& setting, std::string_view text) {
  size_t equals = text.find('=');
  if (equals == std::string_view::npos || !is_env_name(text.substr(0, equals)) ||
      text.find('\0') != std::string_view::npos) {
    return unexpected(setting, quoted(text));
  }
  return Value(Pairs{{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))}});
}

}  // namespace

Result<Value> parse_value(const Setting& setting, const RawValue& raw, const PathRules& rules) {
  if (setting.shape == Shape::env_pairs) return pairs_from(setting, raw);
  if (is_list(setting.shape)) return list_from(setting, raw, rules);
  if (!takes_scalar(setting, raw)) {
    bool has_text = raw.type != RawType::list && raw.type != RawType::table;
    std::string found(describe(raw.type));
    return unexpected(setting, has_text ? found + " " + quoted(raw.text) : found);
  }
  if (is_number(setting.shape)) return number_of(setting, raw.text);
  return Value(PD_TRY(text_of(setting, raw.text, rules)));
}

Result<Value> parse_flag(const Setting& setting, std::string_view text, const PathRules& rules) {
  if (setting.shape == Shape::env_pairs) return pair_from_flag(setting, text);
  if (is_number(setting.shape)) return number_of(setting, text);
  if (is_list(setting.shape)) return Value(List{PD_TRY(entry_of(setting, text, rules))});
  return Value(PD_TRY(text_of(setting, text, rules)));
}

std::string format_value(const Setting& setting, const Value& value) {
  if (const auto* number = std::get_if<uint64_t>(&value)) {
    if (*number == 0 && !setting.unlimited.empty()) return quoted(setting.unlimited);
    std::string text = format_number(setting, *number);
    bool bare = setting.shape == Shape::count || setting.shape == Shape::processors;
    return bare ? text : quoted(text);
  }
  if (const auto* text = std::get_if<std::string>(&value)) return quoted(*text);
  std::vector<std::string> parts;
  if (const auto* pairs = std::get_if<Pairs>(&value)) {
    for (const auto& [name, text] : *pairs) parts.push_back(name + " = " + quoted(text));
    return parts.empty() ? "{}" : "{ " + join(parts, ", ") + " }";
  }
  for (const std::string& entry : std::get<List>(value)) parts.push_back(quoted(entry));
  return "[" + join(parts, ", ") + "]";
}

std::string expectation(const Setting& setting) {
  std::string unlimited =
      setting.unlimited.empty() ? "" : fmt::format(", or \"{}\"", setting.unlimited);
  auto between = [&](std::string_view what) {
    return fmt::format("{} between {} and {}{}", what, format_number(setting, setting.min),
                       format_number(setting, setting.max), unlimited);
  };
  switch (setting.shape) {
    case Shape::choice: {
      List names(setting.choices.begin(), setting.choices.end());
      return (names.size() > 1 ? "one of " : "") + join(names, ", ");
    }
    case Shape::size:
      return between("a size (\"512M\", \"4G\")");
    case Shape::duration:
      return between("a duration (\"90s\", \"15m\", \"2h\")");
    case Shape::count:
      return between("a whole number");
    case Shape::processors:
      return between("a number with at most three decimals");
    case Shape::path:
      return "\"host\" or an absolute directory";
    case Shape::profile:
      return "the name of a profile (a-z, 0-9, - and _)";
    case Shape::globs:
      return "a list of globs relative to the workspace, without . and ..";
    case Shape::inside_paths:
      return "a list of paths, absolute or below the workspace";
    case Shape::host_paths:
      return "a list of absolute paths";
    case Shape::mounts:
      return "a list of \"SRC:DST[:ro]\"";
    case Shape::sockets:
      return "a list of \"SRC\" or \"SRC:DST\"";
    case Shape::env_names:
      return "a list of names of environment variables";
    case Shape::env_pairs:
      return "NAME = \"value\" pairs";
    case Shape::presets: {
      List names(setting.choices.begin(), setting.choices.end());
      return "a list of " + join(names, ", ");
    }
    case Shape::hosts:
      return "a list of \"HOST\" or \"HOST:PORT\"";
  }
  return "";
}

}  // namespace paddock::policy
