// Compares what is on record with what is alive, and leaves nothing behind of what is not.
#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "isolation/backend.h"
#include "model/level.h"
#include "model/paths.h"
#include "store/database.h"

namespace paddock::engine {

using BackendMaker = std::function<Result<std::unique_ptr<isolation::Backend>>(model::Level)>;

// Removes what sandboxes whose owner died left in the kernel and on disk. Cheap when there is
// nothing. To be called before a view store is opened: no process of a dead sandbox may still write
// to an upper that is sealed there.
Status reconcile(const model::HostPath& home, store::Database& database,
                 const BackendMaker& make_backend);

}  // namespace paddock::engine
