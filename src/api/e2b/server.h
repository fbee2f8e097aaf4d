// The whole surface on one port: every request to the part that answers it.
#pragma once

#include "api/doorkeeper.h"
#include "api/e2b/access.h"
#include "engine/live/sandboxes.h"
#include "net/http/connection.h"

namespace paddock::api::e2b {

struct ServerParts {
  engine::Sandboxes& sandboxes;
  const AccessTokens& tokens;
  Doorkeeper& door;
};

// What the handler refers to must outlive the loop that it runs on.
net::http::Handler make_handler(const ServerParts& parts);

}  // namespace paddock::api::e2b
