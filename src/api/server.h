// The server: every request to the surface that answers it, and a note of each.
#pragma once

#include "api/server_parts.h"
#include "net/http/connection.h"

namespace paddock::api {

// For the listener that clients reach.
net::http::Handler make_handler(const ServerParts& parts);
// For who speaks plain HTTP to that listener where it speaks TLS: a refusal with the remedy.
net::http::Handler make_plain_handler(const ServerParts& parts);
// For the socket of whoever runs the server: the control plane and our own surface, without a key
// and with every sandbox in sight.
net::http::Handler make_keeper_handler(const ServerParts& parts);

}  // namespace paddock::api
