// The ViewStore of one PADDOCK_HOME: catalogue in paddock.db, layers below views/.
#pragma once

#include <memory>

#include "base/result.h"
#include "model/paths.h"
#include "store/database.h"
#include "view/workspace.h"

namespace paddock::view {

// `home` exists; `database` outlives the store and the views it opens, all used by one thread at a
// time. Removes what killed processes left below views/ that no row lists. Call it after the
// sandboxes of dead owners were reclaimed: their processes must not write to an upper that is
// sealed here.
Result<std::unique_ptr<ViewStore>> open_view_store(const model::HostPath& home,
                                                   store::Database& database);

}  // namespace paddock::view
