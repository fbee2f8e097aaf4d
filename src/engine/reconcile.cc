#include "engine/reconcile.h"

#include "engine/sandbox_record.h"

namespace paddock::engine {

Status reconcile(const model::HostPath& home, store::Database& database,
                 const BackendMaker& make_backend) {
  for (const Orphan& orphan : PD_TRY(find_orphans(home, database))) {
    std::unique_ptr<isolation::Backend> backend = PD_TRY(make_backend(orphan.level));
    PD_TRY_CTX("removing what a killed sandbox left", backend->reclaim(orphan.id));
    PD_TRY(remove_orphan(home, database, orphan.id));
  }
  return {};
}

}  // namespace paddock::engine
