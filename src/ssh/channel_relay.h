// Carries the bytes of one ssh channel to the gate and back, until the channel ends.
#pragma once

#include <libssh/libssh.h>

#include <optional>
#include <string>

#include "ssh/gate_link.h"

namespace paddock::ssh {

// Whose channel it is: the program's, in which we are the command, or the host's command.
enum class Side { program, host };

// One thread; session and channel outlive it.
class ChannelRelay {
 public:
  ChannelRelay(ssh_session session, ssh_channel channel, GateLink& gate, Side side)
      : session_(session), channel_(channel), gate_(gate), side_(side) {}

  // `exit_status`: where the host's command leaves it, -1 until then.
  Status run(const int& exit_status);

 private:
  Status take_frames();
  Status take(const wire::SshFrame& frame);
  Status write_channel();
  Status write_some(std::string& bytes, int (*write)(ssh_channel, const void*, uint32_t));
  Status read_channel();
  Status read_some(bool errors, wire::SshFrameKind kind);
  bool is_over(const int& exit_status);
  Status wait();
  Status end_program();
  Error broken() const;

  ssh_session session_;
  ssh_channel channel_;
  GateLink& gate_;
  Side side_;
  std::string to_channel_, errors_to_channel_;
  bool end_wanted_ = false;  // by the gate: nothing more will come
  bool end_sent_ = false;
  bool end_told_ = false;  // to the gate
  std::optional<int> exit_wanted_;
};

}  // namespace paddock::ssh
