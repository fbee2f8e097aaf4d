// Sending a held push to its host, by the gate and with the credential that policy binds to it.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "egress/gate.h"
#include "egress/pushes/push_store.h"
#include "model/paths.h"
#include "model/settings.h"

namespace paddock::engine {

struct PushRelease {
  std::string id;                   // a prefix will do
  const model::Settings& settings;  // of administrator and user: a project has no say here
  const std::map<std::string, std::string>& caller_environment;
  model::HostPath caller_home;
  model::HostPath home;     // PADDOCK_HOME
  std::string ssh_program;  // paddock-ssh; empty: none
};

// As egress::Gate::release. Only the credentials of the push's host are read.
Result<egress::ReleasedPush> release_push(const PushRelease& request);

// Where pushes are held.
egress::PushStore push_store(const model::HostPath& home);

}  // namespace paddock::engine
