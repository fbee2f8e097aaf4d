// What several tests of rules and credentials work with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "egress/rules/seen.h"

namespace paddock::egress {

inline const std::string kToken = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

inline Target target(std::string_view host, uint16_t port = 443) {
  return {parse_host(host).value(), port};
}

}  // namespace paddock::egress
