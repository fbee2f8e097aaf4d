#include "engine/sandbox_record.h"

#include <string>

#include "sys/clock.h"
#include "sys/files.h"
#include "sys/path_lock.h"
#include "sys/pid.h"
#include "sys/random.h"

namespace paddock::engine {
namespace {

model::HostPath sandboxes_of(const model::HostPath& home) {
  return home / "sandboxes";
}

// Held while a sandbox is put on record, and while orphans are looked for: a record whose lock is
// free is then always an orphan, never one that is just being made.
Result<sys::FileFd> lock_directory(const model::HostPath& home) {
  return sys::lock_path((sandboxes_of(home) / ".lock").str(), sys::LockMode::exclusive,
                        sys::LockWait::yes);
}

Result<sys::FileFd> try_lock(const model::HostPath& directory) {
  return sys::lock_path((directory / "lock").str(), sys::LockMode::exclusive, sys::LockWait::no);
}

Result<sys::FileFd> share_lock(const model::HostPath& directory) {
  return sys::lock_path((directory / "lock").str(), sys::LockMode::shared, sys::LockWait::no);
}

Status forget(store::Database& database, const model::SandboxId& id) {
  return database.execute("DELETE FROM sandbox WHERE id = ?", {id.str()});
}

}  // namespace

Result<SandboxRecord> SandboxRecord::create(const model::HostPath& home, store::Database& database,
                                            model::Level level,
                                            const std::optional<model::ViewId>& view) {
  auto id = model::SandboxId::from_entropy(sys::random_bytes(8));
  model::HostPath directory = sandboxes_of(home) / id.str();
  PD_TRY_CTX("keeping the sandbox's state", sys::make_dirs(sandboxes_of(home).str(), 0700));
  sys::FileFd guard = PD_TRY(lock_directory(home));
  // The row first: a directory without a row would be nobody's.
  PD_TRY(database.execute(
      "INSERT INTO sandbox (id, state, level, view, created_ms) VALUES (?, 'creating', ?, ?, ?)",
      {id.str(), std::string(name_of(model::kLevelNames, level)),
       view ? store::Value(view->str()) : store::Value(), sys::wall_clock_ms()}));
  PD_TRY_CTX("keeping the sandbox's state", sys::make_dir(directory.str(), 0700));
  sys::FileFd lock = PD_TRY(share_lock(directory));
  return SandboxRecord(std::move(id), home, database, std::move(lock));
}

Result<SandboxRecord> SandboxRecord::adopt(const model::HostPath& home, store::Database& database,
                                           const model::SandboxId& id) {
  sys::FileFd guard = PD_TRY(lock_directory(home));
  return SandboxRecord(id, home, database, PD_TRY(share_lock(sandboxes_of(home) / id.str())));
}

Result<SandboxRecord> SandboxRecord::renew(const model::HostPath& home, store::Database& database,
                                           model::Level level, const model::SandboxId& id) {
  sys::FileFd guard = PD_TRY(lock_directory(home));
  PD_TRY(database.execute(
      "INSERT OR REPLACE INTO sandbox (id, state, level, created_ms) VALUES (?, 'creating', ?, ?)",
      {id.str(), std::string(name_of(model::kLevelNames, level)), sys::wall_clock_ms()}));
  const model::HostPath directory = sandboxes_of(home) / id.str();
  PD_TRY_CTX("keeping the sandbox's state", sys::make_dirs(directory.str(), 0700));
  return SandboxRecord(id, home, database, PD_TRY(share_lock(directory)));
}

Result<bool> SandboxRecord::is_dead(const model::HostPath& home, const model::SandboxId& id) {
  const auto lock = try_lock(sandboxes_of(home) / id.str());
  if (lock.ok() || lock.error().code() == Code::not_found) return true;
  if (lock.error().code() == Code::failed_precondition) return false;
  return lock.error();
}

Result<std::optional<SandboxIdentity>> find_identity(store::Database& database,
                                                     const model::SandboxId& id) {
  auto rows =
      PD_TRY(database.query("SELECT level, pid, pid_start FROM sandbox WHERE id = ?", {id.str()}));
  if (rows.empty()) return std::optional<SandboxIdentity>();
  SandboxIdentity identity;
  identity.level = value_of(model::kLevelNames, rows[0].text(0)).value_or(model::Level::container);
  identity.pid = static_cast<int>(rows[0].integer(1));
  identity.pid_start = rows[0].integer(2);
  return std::optional(identity);
}

SandboxRecord::~SandboxRecord() {
  if (!lock_.is_open()) return;
  // What fails here is found again by reconcile().
  (void)remove_orphan(home_, *database_, id_).ok();
}

model::HostPath SandboxRecord::directory() const {
  return sandboxes_of(home_) / id_.str();
}

Status SandboxRecord::set_view(const model::ViewId& view) {
  return database_->execute("UPDATE sandbox SET view = ? WHERE id = ?", {view.str(), id_.str()});
}

Status SandboxRecord::started(int pid) {
  return database_->execute(
      "UPDATE sandbox SET state = 'running', pid = ?, pid_start = ? WHERE id = ?",
      {int64_t{pid}, sys::start_time_of(pid), id_.str()});
}

Result<std::vector<Orphan>> find_orphans(const model::HostPath& home, store::Database& database) {
  std::vector<Orphan> orphans;
  auto rows = PD_TRY(database.query("SELECT id, level FROM sandbox"));
  if (rows.empty()) return orphans;
  sys::FileFd guard = PD_TRY(lock_directory(home));
  for (const store::Row& row : rows) {
    Orphan orphan;
    orphan.id = PD_TRY(model::SandboxId::parse(row.text(0)));
    orphan.level = value_of(model::kLevelNames, row.text(1)).value_or(model::Level::container);
    model::HostPath directory = sandboxes_of(home) / orphan.id.str();
    auto lock = try_lock(directory);
    bool dead = lock.ok() || lock.error().code() == Code::not_found;
    if (dead) orphans.push_back(std::move(orphan));
  }
  return orphans;
}

Status remove_orphan(const model::HostPath& home, store::Database& database,
                     const model::SandboxId& id) {
  // The directory first: while it is there, the row must say whose it is.
  PD_TRY(sys::remove_tree((sandboxes_of(home) / id.str()).str()));
  return forget(database, id);
}

}  // namespace paddock::engine
