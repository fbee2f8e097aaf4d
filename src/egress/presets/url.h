// Addresses of servers as tools write them: URLs, and git's short form "user@host:path".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/egress.h"

namespace paddock::egress {

struct ServerUrl {
  std::string scheme;  // "https", "http", "ssh"; lower case
  std::string user, password;
  std::string host;  // canonical name, or an address without brackets
  uint16_t port = 0;
  std::string path;   // with its '/'; empty when there is none
  std::string plain;  // the whole, without user and password
};

// nullopt: no server of a scheme that is known here (a file, a local path, "direct").
std::optional<ServerUrl> parse_server_url(std::string_view text);

// A rule that lets this server through on its port.
model::EgressRule rule_for(const ServerUrl& url, std::string name);

}  // namespace paddock::egress
