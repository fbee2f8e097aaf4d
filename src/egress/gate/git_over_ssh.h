// Git over ssh, opened between a program and the host that it asked for: the gate is the server of
// the one and a client of the other, and judges what runs in between as it does over https.
#pragma once

#include <functional>

#include "egress/gate/core.h"
#include "egress/gate/guard.h"

namespace paddock::egress {

struct SshConnection {
  Core& core;
  net::Stream& client;    // its first bytes put in front again
  const Inspected& what;  // its address is filled in by `upstream`
  // Of the host that the client asked for; dialled for a command that is let through.
  std::function<Result<net::Stream*>(net::Task&)> upstream;
};

// Until the command has ended. What is refused is told to the program on its standard error, and
// is an event. An error: the connection was broken off, or was none of ssh; it is no event yet.
Status serve_git_over_ssh(net::Task& task, SshConnection connection);

}  // namespace paddock::egress
