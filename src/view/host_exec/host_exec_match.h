// The rules of host_exec_rules.h, made ready for matching folded names.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace paddock::view {

// Folded components, outermost first. Only the last few count.
using FoldedNames = std::span<const std::string>;

// How many last components of a path the longest pattern looks at.
size_t longest_pattern();

// The reason of the first rule with a pattern that matches the last components; empty: none does.
std::string_view reason_ending_at(FoldedNames names);

// The same for a rule whose path begins with the last components and goes on.
std::string_view reason_leading_through(FoldedNames names);

}  // namespace paddock::view
