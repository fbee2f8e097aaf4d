// The two things that this program can be, each for one connection. Both speak ssh on `wire` and
// frames on `gate`.
#pragma once

#include "base/result.h"
#include "ssh/gate_link.h"
#include "sys/fd.h"

namespace paddock::ssh {

// The server that a program in a sandbox sees. Setup: the private host key. Lets anybody in, takes
// one command, tells it to the gate (request: user, kind, command, GIT_PROTOCOL) and carries its
// streams. No shell, no terminal, no forwarding, no second channel.
Status serve(sys::Fd wire, GateLink& gate);

// Where a client without a key finds an ssh agent that signs for it.
inline constexpr int kAgent = 5;

// The client of the real host. Setup: host, port, user, command, GIT_PROTOCOL, private key (empty:
// kAgent signs), then files of known hosts. Tells the gate that it is ready, or failed (code,
// message, remedy).
Status dial(sys::Fd wire, GateLink& gate);

}  // namespace paddock::ssh
