// What a sandbox answers on its ports, by the wire of E2B's SDK.
#pragma once

#include "api/e2b/routing.h"
#include "api/noted_exchange.h"
#include "api/server_parts.h"

namespace paddock::api::e2b {

// A request that is for a sandbox: its envd, or a port of a program's in it.
Status serve_sandbox(net::Task& task, NotedExchange& exchange, const ServerParts& parts, Route to);

}  // namespace paddock::api::e2b
