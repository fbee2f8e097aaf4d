// /templates of the control plane: built from steps, listed, tagged, deleted.
#pragma once

#include "api/e2b/control_request.h"

namespace paddock::api::e2b {

// Path: "templates" and what follows. Those that somebody else made are none.
Status serve_templates(const ControlRequest& request);

}  // namespace paddock::api::e2b
