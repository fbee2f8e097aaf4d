// Answers DNS queries in a sandbox without egress: nothing exists but localhost. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace paddock::agent {

struct DnsAnswer {
  std::string message;  // to send back
  // The name that was refused, lower case, without the last dot, printable (other bytes as \DDD, as
  // in zone files). Empty: nothing was refused.
  std::string refused_name;
};

// nullopt: not a query, to be dropped. Queries are hostile input.
std::optional<DnsAnswer> answer_query(std::string_view query);

}  // namespace paddock::agent
