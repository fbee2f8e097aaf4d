// Taking views off the disk so that a kill at any instruction leaves nothing that no row lists.
#pragma once

#include "base/result.h"
#include "model/ids.h"
#include "model/paths.h"
#include "sys/fd.h"
#include "view/catalog.h"
#include "view/kept_view.h"

namespace paddock::view {

// The view's lock, for a command or a change of state. failed_precondition while a command runs in
// it. not_found: no such directory. With Patience::some it waits a moment, for listing views takes
// each lock to see whether it is held.
enum class Patience { none, some };
Result<sys::FileFd> lock_view(const ViewDirs& dirs, Patience patience = Patience::some);

enum class Rows { remove, keep };

// Removes everything of the view but, with Rows::keep, its history. The caller holds the lock; rows
// go first, so that what is left of a cut removal is found as unlisted.
Status remove_view(const ViewDirs& dirs, Catalog& catalog, const model::ViewId& id, Rows rows);

// Undoes the last `count` steps that are not undone. The view's lock is held, its steps are sealed.
Status undo_steps(KeptView& view, Catalog& catalog, uint32_t count);
// Removes the layers of steps that were undone. The view's lock is held.
Status remove_undone_layers(KeptView& view, Catalog& catalog);

// Removes what killed processes left below views/: directories without a row, views that ended
// before their command began, layers of undone steps. Cheap when there is nothing: one listing, two
// queries.
Status remove_unlisted(const model::HostPath& home, Catalog& catalog);

}  // namespace paddock::view
