// Sandboxes that run now, in this process or another one.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/ids.h"
#include "model/paths.h"
#include "store/database.h"

namespace paddock::engine {

struct RunningSandbox {
  model::SandboxId id;
  std::string view;  // id; empty: it has none
  model::HostPath directory;
};

Result<std::vector<RunningSandbox>> list_running(const model::HostPath& home,
                                                 store::Database& database);

// By the beginning of its id or of its view's. not_found, invalid_argument (several): says which
// ones run.
Result<RunningSandbox> find_running(const model::HostPath& home, store::Database& database,
                                    const std::string& prefix);

}  // namespace paddock::engine
