// Detached runs that have ended: how, and the last of what they said.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/live/process.h"
#include "model/outcome.h"
#include "model/owner.h"
#include "store/database.h"

namespace paddock::engine {

struct EndedRun {
  std::string sandbox;  // its id
  model::Owner owner;
  std::vector<std::string> argv;
  model::Outcome outcome;
  std::string output;  // the latest, as lines of output_line()
  int64_t ended_ms = 0;
};

// Table ended_run. Used by the thread that uses the database.
class RunTable {
 public:
  explicit RunTable(store::Database& database) : database_(database) {}

  Status put(const EndedRun& run);
  Result<std::optional<EndedRun>> find(const std::string& sandbox);
  // Newest first, without their output.
  Result<std::vector<EndedRun>> list();
  // What ended long ago.
  Status forget_old();

 private:
  store::Database& database_;
};

// One piece of a command's output as a line of JSON, the newline included.
std::string output_line(const OutputData& data);

}  // namespace paddock::engine
