// Carrying bytes from one stream to another.
#pragma once

#include <functional>
#include <string_view>

#include "net/stream.h"

namespace paddock::net {

// Sees each run of bytes before it is passed on: what it returns is passed, an error stops the
// pump. The view it returns must live until it is called again. Called with no bytes when the
// stream has ended, for what it may have kept.
using Tap = std::function<Result<std::string_view>(std::string_view bytes)>;

// Until `from` ends, which ends the writing on `to`. Memory is flat: one buffer of 64 KiB while
// bytes flow, none while they do not. The error says which side failed; neither stream is aborted
// here.
Status pump(Task& task, Stream& from, Stream& to, const Tap& tap);

// Both ways, until both ended or one failed; then both are aborted. `a_to_b` sees what comes from
// `a`.
struct Taps {
  Tap a_to_b;
  Tap b_to_a;
};
Status pump_both_ways(Task& task, Stream& a, Stream& b, Taps taps);

}  // namespace paddock::net
