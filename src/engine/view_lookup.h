// Views by the sandbox that works in them, and sandboxes by their view.
#pragma once

#include <string>

#include "base/result.h"
#include "model/ids.h"
#include "store/database.h"
#include "view/workspace.h"

namespace paddock::engine {

// By the beginning of the id of the view, or of a sandbox that works or has worked in it.
// not_found; invalid_argument: it is too short, or the beginning of several.
Result<view::ViewInfo> find_view(view::ViewStore& views, store::Database& database,
                                 const std::string& prefix);

// `why`, which a change of the view met: where a live sandbox holds the view, who it is and what to
// do about it.
Error name_holder(store::Database& database, const model::ViewId& view, Error why);

}  // namespace paddock::engine
