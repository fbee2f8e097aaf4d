#include "engine/live/snapshot_table.h"

#include <utility>

namespace paddock::engine {

Status SnapshotTable::add(const Snapshot& snapshot) {
  return database_.execute(
      "INSERT INTO snapshot (id, name, owner, sandbox, template, layer, guarantee, created_ms) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      {snapshot.id, snapshot.name, snapshot.owner.key.str(), snapshot.sandbox,
       snapshot.template_name, snapshot.layer,
       std::string(name_of(kGuaranteeNames, snapshot.guarantee)), snapshot.created_ms});
}

Result<std::vector<Snapshot>> SnapshotTable::list() {
  std::vector<Snapshot> found;
  for (const store::Row& row :
       PD_TRY(database_.query("SELECT id, name, owner, sandbox, template, layer, guarantee, "
                              "created_ms FROM snapshot ORDER BY created_ms DESC, id"))) {
    Snapshot snapshot;
    snapshot.id = row.text(0);
    snapshot.name = row.text(1);
    if (!row.text(2).empty()) snapshot.owner.key = PD_TRY(model::KeyId::parse(row.text(2)));
    snapshot.sandbox = row.text(3);
    snapshot.template_name = row.text(4);
    snapshot.layer = row.text(5);
    snapshot.guarantee =
        value_of(kGuaranteeNames, row.text(6)).value_or(Guarantee::crash_consistent);
    snapshot.created_ms = row.integer(7);
    found.push_back(std::move(snapshot));
  }
  return found;
}

Status SnapshotTable::remove(const std::string& id) {
  return database_.execute("DELETE FROM snapshot WHERE id = ?", {id});
}

}  // namespace paddock::engine
