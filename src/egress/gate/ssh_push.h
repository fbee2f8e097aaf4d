// What a program sends to git-receive-pack over ssh, up to where it ends.
#pragma once

#include <optional>

#include "egress/git/pack_end.h"
#include "egress/git/push_request.h"
#include "egress/http/body_source.h"
#include "egress/ssh/helper.h"

namespace paddock::egress {

// Bytes of one push, from its first command. Ends with the pack: ssh has no length, and a program
// may keep its side open while it waits for the answer.
class SshPushSource : public http::BodySource {
 public:
  // `begun`: what was read to find the commands.
  SshPushSource(ssh::Helper& program, const git::PushRequest& push, std::string begun);

  const http::Fields& trailers() const override { return none_; }

 private:
  Result<std::string> read_some(net::Task& task) override;
  std::string note(std::string bytes);

  ssh::Helper& program_;
  std::string begun_;
  std::optional<git::PackEnd> pack_;
  size_t commands_;  // bytes that are still to come before the pack
  bool ended_ = false;
  http::Fields none_;
};

}  // namespace paddock::egress
