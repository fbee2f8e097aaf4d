// Ports of sandboxes through the listener: HTTP requests are passed on to the program that listens
// inside, upgrades become raw streams.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/live/live_sandbox.h"
#include "net/http/exchange.h"

namespace paddock::api::e2b {

struct PortCall {
  net::Task& task;
  net::http::Exchange& exchange;
  engine::LiveSandbox& sandbox;
  uint16_t port = 0;
  std::string access_token;          // of envd: kept from the program inside
  std::string traffic_token;         // asked for where the sandbox's ports are not public
  std::string_view scheme = "http";  // the client's
};

// What cannot be passed on is answered as E2B's proxy does: 403 without the token, 502 with the
// port where nothing listens or what answers is no HTTP.
Status serve_port(const PortCall& call);

}  // namespace paddock::api::e2b
