// Sandboxes that stand still: paused and resumed by request, woken by traffic.
#pragma once

#include "api/e2b/control_request.h"

namespace paddock::api::e2b {

Status pause(const ControlRequest& request, engine::LiveSandbox& sandbox);
// Resumes it where it is paused; otherwise only ever moves its deadline away.
Status connect(const ControlRequest& request, engine::LiveSandbox& sandbox);
// The older form, for paused ones alone.
Status resume(const ControlRequest& request, engine::LiveSandbox& sandbox);

// Whether a request for what is inside can be served, after waking it where it asked for that.
bool is_awake(net::Task& task, engine::Sandboxes& sandboxes, engine::LiveSandbox& sandbox);

}  // namespace paddock::api::e2b
