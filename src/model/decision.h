// The decision record: for one sandbox on one host, which control holds and how. Made before the
// sandbox starts, checked from inside after it has, and returned to the caller.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "model/level.h"

namespace paddock::model {

enum class ControlState { enforced, approximated, refused };
inline constexpr EnumNames<ControlState, 3> kControlStateNames{
    {{ControlState::enforced, "enforced"},
     {ControlState::approximated, "approximated"},
     {ControlState::refused, "refused"}}};

struct Control {
  std::string name;  // dotted, stable: "limits.memory", "seccomp", "files.hide", "network"
  ControlState state;
  std::string detail;  // how it is enforced, what the approximation misses, or why it is refused
};

struct Decision {
  Level level = Level::container;
  Trust trust = Trust::generated;
  // Set when policy accepted less than the trust requires: who accepted it, for the one stderr
  // line.
  std::optional<std::string> accepted_by;
  std::string root_template;  // "host" or the rootfs directory
  std::vector<Control> controls;
  std::vector<std::string> hidden;  // workspace paths masked from the sandbox
  std::vector<std::string> grants;  // what of the host was given by name (mounts, env, paths)
};

}  // namespace paddock::model
