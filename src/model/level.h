// How far a sandbox is isolated, and how far its code is trusted. docs/levels.md publishes the
// vocabulary.
#pragma once

#include "base/enum_names.h"

namespace paddock::model {

// Ordered: a later level isolates more.
enum class Level { process, container, gvisor, microvm };
inline constexpr EnumNames<Level, 4> kLevelNames{{{Level::process, "process"},
                                                  {Level::container, "container"},
                                                  {Level::gvisor, "gvisor"},
                                                  {Level::microvm, "microvm"}}};

// What is known about the code. `generated` is the default: nobody read it.
enum class Trust { reviewed, generated, hostile };
inline constexpr EnumNames<Trust, 3> kTrustNames{
    {{Trust::reviewed, "reviewed"}, {Trust::generated, "generated"}, {Trust::hostile, "hostile"}}};

// The level that code of this trust requires unless policy accepts a weaker one.
constexpr Level required_level(Trust trust) {
  return trust == Trust::reviewed ? Level::container : Level::microvm;
}

}  // namespace paddock::model
