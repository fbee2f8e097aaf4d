// Reads what the network table logged: one refused packet per message of nfnetlink_log. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paddock::agent {

// "tcp 203.0.113.7:443", "udp [2001:db8::1]:53", "icmp 192.0.2.1", "protocol 132 192.0.2.1": where
// the packet was going. `packet` begins with the IP header and may be cut; empty text when it is
// too short to say.
std::string describe_packet(std::string_view packet);

// The packets of one datagram from the kernel, described, in order.
std::vector<std::string> parse_packet_log(std::string_view datagram);

}  // namespace paddock::agent
