// One setting of the policy, declared once: settings_table.cc holds a row for each, and the TOML
// reader, the command-line flags, the project file of `init`, docs/policy.md and `policy explain`
// are all made from the rows. Everything here is constant after start and safe from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/settings.h"

namespace paddock::policy {

using List = std::vector<std::string>;
using Pairs = std::map<std::string, std::string>;

// A checked value in the form that all settings share. Sizes are bytes, durations seconds,
// processors thousandths; names, paths and "SRC:DST[:ro]" are text in canonical form.
using Value = std::variant<uint64_t, std::string, List, Pairs>;

// What a value looks like in a file and on the command line.
enum class Shape {
  choice,
  size,
  duration,
  count,
  processors,
  path,
  profile,
  globs,
  inside_paths,
  host_paths,
  mounts,
  sockets,
  env_names,
  env_pairs,
  presets,  // a list of choices
  hosts
};

// What "narrower" means for a setting, and how a tier's value meets the one in force.
enum class Order {
  smaller,        // a number; the unlimited word is the widest. Replaced
  later_choice,   // a name; choices are listed from the widest to the narrowest. Replaced
  same_only,      // nothing is narrower than the value itself. Replaced
  fewer_entries,  // a list that grants: narrower when each entry is covered. Replaced; flags add
  more_entries,   // a list that restricts: tiers and flags add to it, so no tier undoes another
  more_names,     // pairs: tiers and flags add; narrower when no earlier name changes its value
  of_its_parts,   // a bundle: its values are compared one by one
};

enum class ProjectTier { may_narrow, may_not_set };

struct Access {
  Value (*get)(const model::Settings&);
  void (*set)(model::Settings&, const Value&);
};

struct Setting {
  std::string_view key;   // dotted, as in TOML: "limits.memory"
  std::string_view flag;  // "--memory"; empty: policy files only
  Shape shape;
  Order order;
  Access access;
  std::string_view doc;                         // one sentence
  std::span<const std::string_view> choices{};  // Shape::choice, from the widest to the narrowest
  uint64_t min = 0;                             // of numbers
  uint64_t max = 0;
  std::string_view unlimited{};  // the word for no limit, held as 0; empty: there is always one
  ProjectTier project = ProjectTier::may_narrow;
  std::string_view control{};     // the model::Control that says how it holds; empty: none
  std::string_view exceptions{};  // key of the list that takes entries of this one away again
};

// In the order of the documentation. Keys without a dot come first.
std::span<const Setting> settings();
const Setting* find_setting(std::string_view key);  // nullptr: unknown
std::vector<std::string> setting_keys();

bool is_list(Shape shape);
// For usage texts: "SIZE", "SRC:DST[:ro]".
std::string_view placeholder(Shape shape);
// The rule of `order` in words, for documentation.
std::string_view describe(Order order);

}  // namespace paddock::policy
