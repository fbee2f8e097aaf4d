// The sandbox's network: loopback and nothing that leads anywhere. One constant nftables table and
// one route, IPv4 and IPv6, made before capabilities are dropped.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "sys/fd.h"

namespace paddock::agent {

// The nflog group that the table logs refusals to, before it refuses them.
inline constexpr uint16_t kRefusalGroup = 53;

Status bring_loopback_up();

// Installs the table: to loopback everything passes; other TCP is answered with a reset and
// everything else is dropped in output, which the sender sees at once as EPERM; both are logged.
// Returns the socket that receives the log (packet_log.h reads it).
Result<sys::SocketFd> install_network_table();

// Sends to any address reach the table through loopback, instead of failing with ENETUNREACH. Only
// with the table in place: without it a local server would answer for every address.
Status route_everything_to_loopback();

}  // namespace paddock::agent
