// What a held push would bring, read by the host's git in a repository of its own.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "egress/pushes/push_store.h"
#include "model/paths.h"

namespace paddock::cmd {

struct PushedCommit {
  std::string id;
  std::string author;  // "name <mail>"
  std::string date;
  std::string subject;
};

struct PushContents {
  std::vector<PushedCommit> commits;  // newest first
  std::string patch;                  // where it was asked for
};

struct PushReading {
  const egress::PushStore& store;
  const egress::HeldPush& push;
  model::HostPath scratch;  // a directory of Paddock's own
  model::HostPath near;     // where the caller stands: a clone there lends its objects
  enum class Patch { no, yes } patch = Patch::no;
};

// unsupported, data_corrupt: git cannot read it here. A pack that leaves out what its host has
// already can be read only with a clone at hand.
Result<PushContents> read_push(const PushReading& reading);

}  // namespace paddock::cmd
