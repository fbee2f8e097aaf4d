// The journal of one sandbox: a directory with a lock, and a row in paddock.db. Written before the
// kernel holds anything of the sandbox, so that whoever comes after a crash knows what to look for.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/ids.h"
#include "model/level.h"
#include "model/paths.h"
#include "store/database.h"
#include "sys/fd.h"

namespace paddock::engine {

// Owns sandboxes/<id>/ and the row while the sandbox lives. The lock file says that its owner is
// alive: a kernel fact, not a record's claim. The destructor removes both; a killed owner leaves
// them to Engine::reconcile().
class SandboxRecord {
 public:
  static Result<SandboxRecord> create(const model::HostPath& home, store::Database& database,
                                      model::Level level, const std::optional<model::ViewId>& view);
  SandboxRecord(SandboxRecord&&) noexcept = default;
  SandboxRecord& operator=(SandboxRecord&&) = delete;
  ~SandboxRecord();

  // One whose agent lives, though whoever started it does not. not_found: its directory is gone.
  static Result<SandboxRecord> adopt(const model::HostPath& home, store::Database& database,
                                     const model::SandboxId& id);
  // One without an agent, whose row and directory may have been taken for an orphan's.
  static Result<SandboxRecord> renew(const model::HostPath& home, store::Database& database,
                                     model::Level level, const model::SandboxId& id);
  // Whether nobody holds its lock: neither its owner nor its agent.
  static Result<bool> is_dead(const model::HostPath& home, const model::SandboxId& id);

  const model::SandboxId& id() const { return id_; }
  // For an agent that outlives its owner: shared, so that both can hold it.
  int lock() const { return lock_.get(); }
  model::HostPath directory() const;
  // The view that it works in from now on.
  Status set_view(const model::ViewId& view);
  // Writes who the agent is, once it runs.
  Status started(int pid);
  // The sandbox could not be destroyed: leaves the record for reconcile().
  void abandon() { lock_.reset(); }

 private:
  SandboxRecord(model::SandboxId id, model::HostPath home, store::Database& database,
                sys::FileFd lock)
      : id_(std::move(id)), home_(std::move(home)), database_(&database), lock_(std::move(lock)) {}

  model::SandboxId id_;
  model::HostPath home_;
  store::Database* database_;
  sys::FileFd lock_;
};

// Who the agent of a sandbox is.
struct SandboxIdentity {
  model::Level level = model::Level::container;
  int pid = 0;  // 0: it was not started yet
  int64_t pid_start = 0;
};
Result<std::optional<SandboxIdentity>> find_identity(store::Database& database,
                                                     const model::SandboxId& id);

struct Orphan {
  model::SandboxId id;
  model::Level level = model::Level::container;
};

// Sandboxes on record whose lock is free: their owner is dead.
Result<std::vector<Orphan>> find_orphans(const model::HostPath& home, store::Database& database);
// Forgets an orphan whose kernel objects are gone.
Status remove_orphan(const model::HostPath& home, store::Database& database,
                     const model::SandboxId& id);

}  // namespace paddock::engine
