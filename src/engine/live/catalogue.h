// The table of live sandboxes, kept beyond their end so that it can be told.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/live/live_sandbox.h"
#include "store/database.h"

namespace paddock::engine {

// Used by the thread that uses the database.
class Catalogue {
 public:
  explicit Catalogue(store::Database& database) : database_(database) {}

  // In place of what was said of it before, its layer included.
  Status add(const LiveInfo& info);
  Status set_state(const LiveInfo& info);
  Status set_deadline(const LiveInfo& info);
  Status set_layer(const model::SandboxId& id, const std::string& layer);
  Status set_view(const model::SandboxId& id, const model::ViewId& view);
  // Newest first, gone ones included. data_corrupt: a row is not what was written.
  Result<std::vector<LiveInfo>> list();
  // What ended long ago.
  Status forget_old();

 private:
  store::Database& database_;
};

}  // namespace paddock::engine
