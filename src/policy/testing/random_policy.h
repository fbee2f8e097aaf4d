// Random policy text, valid value by value, for property tests.
#pragma once

#include <random>
#include <string>

#include "policy/setting.h"

namespace paddock::policy::testing {

using Rng = std::mt19937;

// A value of `setting` that any tier could write. Small pools, so that values of two tiers meet.
Value random_value(const Setting& setting, Rng& rng);

// Lines that give about a third of the settings a value each.
std::string random_tier(Rng& rng);

}  // namespace paddock::policy::testing
