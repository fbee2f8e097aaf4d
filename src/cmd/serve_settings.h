// server.toml and the command line of `serve`, read.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cmd/context.h"
#include "cmd/invocation.h"
#include "model/ip_address.h"
#include "service/settings.h"

namespace paddock::cmd {

enum class Reach { this_machine, everybody };

struct Endpoint {
  model::IpAddress address;
  uint16_t port = 0;
  Reach reach = Reach::this_machine;
};
Result<Endpoint> parse_endpoint(const std::string& text);

// /etc/paddock/server.toml, then the caller's own; later ones win.
Result<service::LoadedSettings> read_server_settings(const ServeArgs& args, const Context& context);

// serve --explain
Status explain_server(const ServeArgs& args, const Context& context);

}  // namespace paddock::cmd
