// paddock-ssh: speaks ssh for the gate, for one connection, in a process of its own: libssh takes
// apart what a sandbox or a host sends where nothing else of Paddock is at hand.
//
//   paddock-ssh serve|dial   descriptor 3 is the ssh connection, 4 the gate (wire/ssh_frame.h), 5
//   an
//                            ssh agent where no key is given
#include <fcntl.h>
#include <libssh/libssh.h>
#include <signal.h>

#include <string_view>

#include "ssh/confinement.h"
#include "ssh/sides.h"

namespace paddock::ssh {
namespace {

constexpr int kWire = 3, kGate = 4;

int act(std::string_view side) {
  if (::fcntl(kWire, F_SETFD, FD_CLOEXEC) != 0 || ::fcntl(kGate, F_SETFD, FD_CLOEXEC) != 0) {
    return 2;
  }
  hide();
  ::signal(SIGPIPE, SIG_IGN);
  ssh_init();
  GateLink gate{sys::Fd(kGate)};
  const Status status = side == "serve" ? serve(sys::Fd(kWire), gate) : dial(sys::Fd(kWire), gate);
  if (status.ok()) return 0;
  const Error error = Status(status).error();
  gate.queue(wire::SshFrameKind::failed, wire::join_fields({std::string(to_string(error.code())),
                                                            error.describe(), error.remedy()}));
  (void)gate.flush_all();
  return 1;
}

}  // namespace
}  // namespace paddock::ssh

int main(int argc, char** argv) {
  const std::string_view side = argc == 2 ? argv[1] : "";
  if (side != "serve" && side != "dial") return 2;
  return paddock::ssh::act(side);
}
