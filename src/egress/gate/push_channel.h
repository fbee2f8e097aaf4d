// A repository's git-receive-pack, over whatever carries it.
#pragma once

#include <memory>

#include "egress/gate/core.h"
#include "egress/git/advertisement.h"
#include "egress/git/push_report.h"
#include "egress/pushes/held_push.h"

namespace paddock::egress {

// Used once: refs(), then perhaps send(), then leave() in any case.
class PushChannel {
 public:
  virtual ~PushChannel() = default;

  virtual Result<git::Refs> refs(net::Task& task) = 0;
  // Commands and pack from the file's begin; the bytes of the answer.
  virtual Result<std::string> send(net::Task& task, const sys::FileFd& request, uint64_t bytes) = 0;
  virtual void leave(net::Task&) {}
};

struct PushPlace {
  Core& core;
  const SandboxRules& rules;
  const Target& target;
  const HeldPush& push;
};

std::unique_ptr<PushChannel> open_https_push(const PushPlace& place);
std::unique_ptr<PushChannel> open_ssh_push(const PushPlace& place);

}  // namespace paddock::egress
