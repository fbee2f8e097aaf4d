// The sandbox's network: loopback and nothing that leads anywhere. One constant nftables table and
// one route, IPv4 and IPv6, made before capabilities are dropped. What may leave is redirected to
// the agent, which carries it to the host.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"
#include "wire/agent.pb.h"

namespace paddock::agent {

// The nflog group that the table logs refusals to, before it refuses them.
inline constexpr uint16_t kRefusalGroup = 53;

// Where the agent listens (way_out.h): for redirected connections on 127.0.0.1 and ::1, where the
// kernel redirects to; as a proxy beside the resolver. A port that no command can take.
inline constexpr uint16_t kWayOutPort = 54;
inline constexpr uint32_t kProxyAddress = 0x7f000035;

Status bring_loopback_up();

// Installs the table: to loopback everything passes; TCP to an address in `redirected` arrives at
// kWayOutPort; other TCP is answered with a reset and everything else is dropped in output, which
// the sender sees at once as EPERM; both are logged. Returns the socket that receives the log
// (packet_log.h reads it). invalid_argument: a block that is none.
Result<sys::SocketFd> install_network_table(const wire::Egress& egress);

// Sends to any address reach the table through loopback, instead of failing with ENETUNREACH. Only
// with the table in place: without it a local server would answer for every address.
Status route_everything_to_loopback();

}  // namespace paddock::agent
