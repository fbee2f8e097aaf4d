#include "agent/dns_stub.h"

#include <algorithm>
#include <utility>

namespace paddock::agent {
namespace {

bool is_localhost(std::string_view name) {
  return name == "localhost" || name.ends_with(".localhost");  // RFC 6761 6.3
}

// Loopback's address of the type asked for; none for any other type.
std::string localhost_reply(const wire::DnsQuery& query) {
  wire::DnsReply reply;
  if (query.klass == wire::kDnsClassIn && query.type == wire::kDnsTypeA) {
    reply.addresses = {std::string("\x7f\0\0\1", 4)};
  } else if (query.klass == wire::kDnsClassIn && query.type == wire::kDnsTypeAaaa) {
    reply.addresses = {std::string("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16)};
  }
  return build_dns_reply(query, reply);
}

std::string lower(std::string name) {
  std::ranges::for_each(name, [](char& c) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  });
  return name;
}

// The host knows names; whose address something is, it does not say.
bool is_for_the_host(const wire::DnsQuery& query) {
  return query.klass == wire::kDnsClassIn && query.type != wire::kDnsTypePtr && query.name != ".";
}

}  // namespace

std::optional<DnsAnswer> answer_query(std::string_view message, OtherNames others) {
  auto query = wire::parse_dns_query(message);
  if (!query.ok()) {
    std::string error = wire::dns_format_error(message);
    if (error.empty()) return std::nullopt;
    return DnsAnswer{std::move(error), {}, {}};
  }
  std::string name = lower(query->name);
  if (is_localhost(name)) return DnsAnswer{localhost_reply(*query), {}, {}};
  if (others == OtherNames::of_the_host && is_for_the_host(*query)) {
    return DnsAnswer{{}, {}, std::move(*query)};
  }
  wire::DnsReply none;
  none.code = wire::DnsCode::name_error;
  return DnsAnswer{build_dns_reply(*query, none), std::move(name), {}};
}

}  // namespace paddock::agent
