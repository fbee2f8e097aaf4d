// What a daemon must know of a live sandbox that it did not start.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/live/live_sandbox.h"
#include "model/ids.h"
#include "store/database.h"

namespace paddock::engine {

struct LiveRecord {
  LiveSetup setup;
  std::string base_template;
  std::map<std::string, std::string> environment;  // its maker's
  Lifecycle lifecycle;
  uint32_t main_command = 0;
  NetworkRequest network;  // `text` and `internet`, from which it is read once more
};
LiveRecord record_of(const LiveSandbox& sandbox);

// Table live_record: one row for each sandbox that outlives its daemon, from before its agent is
// told so until it is gone. Used by the thread that uses the database.
class LiveRecords {
 public:
  explicit LiveRecords(store::Database& database) : database_(database) {}

  Status put(const model::SandboxId& id, const LiveRecord& record);
  // nullopt: there is none. data_corrupt: it is not what was written.
  Result<std::optional<LiveRecord>> find(const model::SandboxId& id);
  Status remove(const model::SandboxId& id);

 private:
  store::Database& database_;
};

}  // namespace paddock::engine
