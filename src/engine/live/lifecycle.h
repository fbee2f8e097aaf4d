// What becomes of a live sandbox when its time is up or nobody needs it for now. Values.
#pragma once

#include "base/enum_names.h"

namespace paddock::engine {

// What a paused sandbox keeps. `files`: its processes are gone; it starts again on what they wrote.
enum class Keep { memory, files };
inline constexpr EnumNames<Keep, 2> kKeepNames{{{Keep::memory, "memory"}, {Keep::files, "files"}}};

struct Lifecycle {
  enum class AtDeadline { kill, pause } at_deadline = AtDeadline::kill;
  Keep keep = Keep::memory;  // of a pause at the deadline
  bool auto_resume = false;  // by the first request for it
};

}  // namespace paddock::engine
