// The agent's own confinement: what it gives up before anything runs, so that no command ever has
// it.
#pragma once

#include "base/result.h"
#include "sys/fd.h"
#include "wire/agent.pb.h"

namespace paddock::agent {

// Becomes the user that commands run as, without any capability (or, where a sandbox has several
// users, stays root inside with those that Setup names), unable to gain privileges, filtered, and
// closed to inspection. While there is a single thread; sockets that need
// capabilities are made before. Returns the seccomp listener, which is not open when nothing is to
// be reported.
Result<sys::Fd> confine(const wire::Setup& setup);

}  // namespace paddock::agent
