// Snapshots of sandboxes, forks of them, and the templates that snapshots are.
#pragma once

#include "api/e2b/control_request.h"

namespace paddock::api::e2b {

Status make_snapshot(const ControlRequest& request, engine::LiveSandbox& sandbox);
Status fork(const ControlRequest& request, engine::LiveSandbox& sandbox);
Status list_snapshots(const ControlRequest& request);
// Path: templates/<id or name>. What sandboxes use of it stays until they end.
Status delete_template(const ControlRequest& request);

// Where the caller's create names a snapshot: from what it is made. Somebody else's is none.
Status find_origin(const ControlRequest& request, engine::CreateRequest& wanted);

}  // namespace paddock::api::e2b
