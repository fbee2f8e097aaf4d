// Which view a verb means.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cmd/context.h"
#include "view/workspace.h"

namespace paddock::cmd {

// By id prefix, its own or that of a sandbox over it, or, when empty, the newest view of the
// workspace where the caller stands that is neither applied nor discarded. The caller may stand
// below the workspace.
Result<view::ViewInfo> choose_view(view::ViewStore& views, Context& context,
                                   const std::string& prefix);

// Paths as the caller typed them (from where it stands, or absolute), relative to the workspace.
// invalid_argument for one that leads out of it.
Result<std::vector<std::string>> relative_paths(const std::vector<std::string>& paths,
                                                const model::HostPath& workspace,
                                                const Context& context);

// `why`, which a change of the view met: with the sandbox that holds the view, where one does.
Error held_error(Context& context, const view::ViewInfo& info, Error why);

std::string short_id(const model::ViewId& id);

}  // namespace paddock::cmd
