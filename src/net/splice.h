// Carrying bytes between two sockets without looking at them: they stay in the kernel.
#pragma once

#include <cstdint>
#include <functional>

#include "net/socket_stream.h"

namespace paddock::net {

// Told of each run of bytes before it is passed on; an error stops it.
using Meter = std::function<Status(uint64_t bytes)>;

// As pump_both_ways() of pump.h, for bytes that nobody sees.
struct Meters {
  Meter a_to_b;
  Meter b_to_a;
};
Status splice_both_ways(Task& task, SocketStream& a, SocketStream& b, const Meters& meters);

}  // namespace paddock::net
