// A burst: what is carried from one stream to another while there is something to read.
#pragma once

namespace paddock::net {

enum class Flow { paused, ended };

// Runs of bytes after which other tasks get their turn.
inline constexpr int kRunsBeforeOthers = 16;

}  // namespace paddock::net
