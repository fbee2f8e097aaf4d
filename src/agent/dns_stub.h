// What the resolver of a sandbox says by itself: everything where nothing leaves, and what concerns
// no other host where something does. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/dns_message.h"

namespace paddock::agent {

inline constexpr std::string_view kResolverAddress{"\x7f\0\0\x35", 4};  // 127.0.0.53
inline constexpr uint16_t kResolverPort = 53;

struct DnsAnswer {
  std::string message;  // to send back; empty: the host is to be asked for `query`
  // The name that was refused, lower case, without the last dot, printable (other bytes as \DDD, as
  // in zone files). Empty: nothing was refused.
  std::string refused_name;
  wire::DnsQuery query;
};

enum class OtherNames {
  refused,      // nothing exists but localhost
  of_the_host,  // addresses of names are the host's to tell; of anything else nothing exists
};

// nullopt: not a query, to be dropped. Queries are hostile input.
std::optional<DnsAnswer> answer_query(std::string_view message, OtherNames others);

}  // namespace paddock::agent
