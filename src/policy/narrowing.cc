#include "policy/narrowing.h"

#include <algorithm>
#include <limits>

#include "base/strings.h"
#include "policy/mount_text.h"
#include "policy/value.h"

namespace paddock::policy {
namespace {

// A pattern that stands for every path of the workspace.
constexpr std::string_view kEverything = "**";

bool is_literal(std::string_view glob) {
  return glob.find_first_of("*?[\\") == std::string_view::npos;
}

// Whether every path that `narrow` matches is matched by `wide`. Says no when it cannot be sure.
bool covers_glob(std::string_view wide, std::string_view narrow) {
  if (wide == narrow || wide == kEverything) return true;
  bool name_only = wide.find('/') == std::string_view::npos;
  if (name_only && narrow.find('/') != std::string_view::npos) return false;
  return is_literal(narrow) && glob_match(wide, narrow);
}

bool covers_mount(const std::string& wide_text, const std::string& narrow_text, Coverage coverage) {
  auto wide = parse_mount(wide_text, {.whole_tree = WholeTree::allow});
  auto narrow = parse_mount(narrow_text, {});
  if (!wide.ok() || !narrow.ok()) return false;
  if (coverage == Coverage::same &&
      (wide->source != narrow->source || wide->target != narrow->target)) {
    return false;
  }
  return covers(*wide, *narrow);
}

// Where it appears inside gives nothing: a bound speaks of the source alone.
bool covers_socket(const std::string& wide_text, const std::string& narrow_text) {
  auto wide = parse_socket(wide_text, {.whole_tree = WholeTree::allow});
  auto narrow = parse_socket(narrow_text, {});
  return wide.ok() && narrow.ok() && lies_within(narrow->source, wide->source);
}

bool covers_entry(Shape shape, const std::string& wide, const std::string& narrow,
                  Coverage coverage) {
  if (wide == narrow) return true;
  if (shape == Shape::mounts) return covers_mount(wide, narrow, coverage);
  if (coverage == Coverage::same) return false;
  if (shape == Shape::sockets) return covers_socket(wide, narrow);
  if (shape == Shape::host_paths) return lies_within(narrow, wide);
  if (shape == Shape::globs) return covers_glob(wide, narrow);
  return false;
}

bool is_covered(const Setting& setting, const std::string& entry, const List& limit,
                Coverage coverage) {
  return std::any_of(limit.begin(), limit.end(), [&](const std::string& wide) {
    return covers_entry(setting.shape, wide, entry, coverage);
  });
}

// 0 is "no limit".
uint64_t size_of_limit(uint64_t number) {
  return number == 0 ? std::numeric_limits<uint64_t>::max() : number;
}

size_t rank(const Setting& setting, const Value& value) {
  const auto& text = std::get<std::string>(value);
  return static_cast<size_t>(std::find(setting.choices.begin(), setting.choices.end(), text) -
                             setting.choices.begin());
}

bool is_wider_scalar(const Setting& setting, const Value& candidate, const Value& limit) {
  switch (setting.order) {
    case Order::smaller:
      return size_of_limit(std::get<uint64_t>(candidate)) >
             size_of_limit(std::get<uint64_t>(limit));
    case Order::later_choice:
      return rank(setting, candidate) < rank(setting, limit);
    case Order::of_its_parts:
      return false;
    default:
      return candidate != limit;
  }
}

// Entries that the limit has and the candidate lost.
std::optional<std::string> lost_entry(const List& candidate, const List& limit) {
  for (const std::string& entry : limit) {
    if (std::find(candidate.begin(), candidate.end(), entry) == candidate.end()) return entry;
  }
  return std::nullopt;
}

std::optional<std::string> changed_name(const Pairs& candidate, const Pairs& limit) {
  for (const auto& [name, text] : limit) {
    auto found = candidate.find(name);
    if (found == candidate.end() || found->second != text) return name;
  }
  return std::nullopt;
}

void add_missing(List& list, const List& more) {
  for (const std::string& entry : more) {
    if (std::find(list.begin(), list.end(), entry) == list.end()) list.push_back(entry);
  }
}

}  // namespace

std::optional<std::string> wider_part(const Setting& setting, const Value& candidate,
                                      const Value& limit, Coverage coverage) {
  if (setting.order == Order::fewer_entries) {
    for (const std::string& entry : std::get<List>(candidate)) {
      if (!is_covered(setting, entry, std::get<List>(limit), coverage)) {
        return format_value(setting, List{entry});
      }
    }
    return std::nullopt;
  }
  if (setting.order == Order::more_entries) {
    return lost_entry(std::get<List>(candidate), std::get<List>(limit));
  }
  if (setting.order == Order::more_names) {
    return changed_name(std::get<Pairs>(candidate), std::get<Pairs>(limit));
  }
  if (is_wider_scalar(setting, candidate, limit)) return format_value(setting, candidate);
  return std::nullopt;
}

Value merge(const Setting& setting, const Value& current, const Value& given, Source source) {
  bool adds = setting.order == Order::more_entries ||
              (setting.order == Order::fewer_entries && source == Source::flag);
  if (adds) {
    List list = std::get<List>(current);
    add_missing(list, std::get<List>(given));
    return list;
  }
  if (setting.order == Order::more_names) {
    Pairs pairs = std::get<Pairs>(given);
    for (const auto& [name, text] : std::get<Pairs>(current)) pairs.try_emplace(name, text);
    return pairs;
  }
  return given;
}

Value clamp(const Setting& setting, const Value& value, const Value& bound) {
  if (setting.order == Order::fewer_entries) {
    List kept;
    for (const std::string& entry : std::get<List>(value)) {
      if (is_covered(setting, entry, std::get<List>(bound), Coverage::within))
        kept.push_back(entry);
    }
    return kept;
  }
  return wider_part(setting, value, bound, Coverage::within) ? bound : value;
}

}  // namespace paddock::policy
