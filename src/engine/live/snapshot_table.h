// The table of snapshots: names that sandboxes are made from, each with the layer that it holds.
#pragma once

#include <string>
#include <vector>

#include "base/enum_names.h"
#include "base/result.h"
#include "model/owner.h"
#include "store/database.h"

namespace paddock::engine {

// What holds for the files of a snapshot. `quiesced`: no command ran, all that was written is in
// it. `crash_consistent`: commands ran and stood still at one instant; what they had not written
// out by then is not in it, as after a loss of power.
enum class Guarantee { quiesced, crash_consistent };
inline constexpr EnumNames<Guarantee, 2> kGuaranteeNames{
    {{Guarantee::quiesced, "quiesced"}, {Guarantee::crash_consistent, "crash-consistent"}}};

struct Snapshot {
  std::string id;
  std::string name;           // its maker's; may be empty, or that of older ones too
  model::Owner owner;         // of the sandbox
  std::string sandbox;        // that it was made of
  std::string template_name;  // at the bottom of its layers
  std::string layer;
  Guarantee guarantee = Guarantee::quiesced;
  int64_t created_ms = 0;
};

// Used by the thread that uses the database.
class SnapshotTable {
 public:
  explicit SnapshotTable(store::Database& database) : database_(database) {}

  Status add(const Snapshot& snapshot);
  // Newest first.
  Result<std::vector<Snapshot>> list();
  Status remove(const std::string& id);

 private:
  store::Database& database_;
};

}  // namespace paddock::engine
