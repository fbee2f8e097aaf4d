// The life of a live sandbox, as a table. Pure.
#pragma once

#include "base/enum_names.h"

namespace paddock::engine {

enum class SandboxState { creating, running, pausing, paused, resuming, stopping, gone };
inline constexpr EnumNames<SandboxState, 7> kSandboxStateNames{
    {{SandboxState::creating, "creating"},
     {SandboxState::running, "running"},
     {SandboxState::pausing, "pausing"},
     {SandboxState::paused, "paused"},
     {SandboxState::resuming, "resuming"},
     {SandboxState::stopping, "stopping"},
     {SandboxState::gone, "gone"}}};

// Whether `to` may follow `from`. Nothing follows gone; stopping leads nowhere else.
constexpr bool may_follow(SandboxState from, SandboxState to) {
  using enum SandboxState;
  switch (from) {
    case creating:
      return to == running || to == stopping;
    case running:
      return to == pausing || to == stopping;
    case pausing:
      return to == paused || to == resuming || to == running || to == stopping;
    case paused:
      return to == resuming || to == stopping;
    case resuming:
      return to == running || to == paused || to == stopping;
    case stopping:
      return to == gone;
    case gone:
      return false;
  }
  return false;
}

}  // namespace paddock::engine
