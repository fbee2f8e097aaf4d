#include "egress/gate/ssh_push.h"

#include <algorithm>
#include <utility>

namespace paddock::egress {

SshPushSource::SshPushSource(ssh::Helper& program, const git::PushRequest& push, std::string begun)
    : program_(program), begun_(std::move(begun)), commands_(push.size) {
  if (push.brings_pack()) pack_.emplace(push.changes.front().new_id.size());
}

std::string SshPushSource::note(std::string bytes) {
  const size_t before_pack = std::min(commands_, bytes.size());
  commands_ -= before_pack;
  if (pack_) pack_->feed(std::string_view(bytes).substr(before_pack));
  return bytes;
}

Result<std::string> SshPushSource::read_some(net::Task& task) {
  if (!begun_.empty()) return note(std::exchange(begun_, {}));
  if (ended_ || !pack_ || pack_->is_whole()) return std::string();
  while (true) {
    const auto frame = PD_TRY(program_.read(task));
    if (!frame) return Error(Code::unavailable, "the program ended in the middle of a push");
    if (frame->kind == wire::SshFrameKind::end) {
      ended_ = true;
      return std::string();
    }
    if (frame->kind == wire::SshFrameKind::data && !frame->payload.empty()) {
      return note(frame->payload);
    }
  }
}

}  // namespace paddock::egress
