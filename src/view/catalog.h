// The rows of paddock.db that belong to views. Queries only; what they mean is the store's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "base/result.h"
#include "model/ids.h"
#include "model/paths.h"
#include "store/database.h"
#include "view/workspace.h"

namespace paddock::view {

enum class StoredState { open, ready, applied, discarded };
inline constexpr EnumNames<StoredState, 4> kStoredStateNames{
    {{StoredState::open, "open"},
     {StoredState::ready, "ready"},
     {StoredState::applied, "applied"},
     {StoredState::discarded, "discarded"}}};

// What of the host a view covers.
struct ViewTrees {
  std::vector<model::HostPath> hosts;  // tree k is hosts[k]; 0 is the workspace
  model::HostPath git_dir;             // of the workspace's repository; empty: none
  model::HostPath common_dir;
};

struct KeptRules {
  std::vector<std::string> hide, show, host_exec;
};

struct ViewRecord {
  model::ViewId id;
  StoredState state = StoredState::open;
  int64_t created_ms = 0;
  ViewTrees trees;
  KeptRules rules;
  uint64_t bytes = 0;

  const model::HostPath& workspace() const { return trees.hosts.at(0); }
};

struct StepRecord {
  Step step;
  int64_t opened_ns = 0;  // wall clock before the step's command could see anything
  bool sealed = false;
  uint64_t layers = 0;  // bit k: there is a layer for tree k

  bool has_layer(size_t tree) const { return (layers >> tree & 1) != 0; }
};

constexpr size_t kMaxTrees = 63;

// Not synchronised, as its database. data_corrupt: a row is not what this build writes.
class Catalog {
 public:
  explicit Catalog(store::Database& database) : database_(database) {}

  store::Database& database() { return database_; }

  Result<std::vector<ViewRecord>> views();              // newest first
  Result<std::map<std::string, StoredState>> states();  // of all views, by id
  // Views of which a rollback was cut: steps are undone, their layers are still there.
  Result<std::vector<model::ViewId>> half_undone();
  Result<std::optional<ViewRecord>> find(const model::ViewId& id);
  Status insert(const ViewRecord& view);
  Status set_state(const model::ViewId& id, StoredState state);
  Status set_bytes(const model::ViewId& id, uint64_t bytes);
  Status remove(const model::ViewId& id);

  Result<std::vector<StepRecord>> steps(const model::ViewId& id);  // by number
  // Writes the whole row.
  Status put_step(const model::ViewId& id, const StepRecord& step);
  Status remove_step(const model::ViewId& id, uint32_t number);

  // What `body` wrote is on disk when this returns: for what a caller is told has been kept.
  Status durable_transaction(const std::function<Status()>& body);

 private:
  store::Database& database_;
};

}  // namespace paddock::view
