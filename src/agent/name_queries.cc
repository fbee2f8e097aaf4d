#include "agent/name_queries.h"

#include <netinet/in.h>

#include <string>
#include <utility>

#include "agent/dns_stub.h"
#include "wire/egress.h"

namespace paddock::agent {
namespace {

// A name keeps its address as long as the sandbox lives; what may be reached can change.
constexpr uint32_t kSecondsToKeep = 60;

}  // namespace

NameQueries::Asked NameQueries::ask(WaitingResolver waiting) {
  if (host_gone_ || waiting_.size() >= wire::kMaxQueries) return Asked::too_many;
  do {
    ++last_;
  } while (last_ == 0 || waiting_.contains(last_));
  wire::ToHost message;
  wire::NameQuery& query = *message.mutable_name_query();
  query.set_query(last_);
  query.set_name(waiting.query.name.substr(0, wire::kMaxAskedName));
  *query.mutable_asker() = find_asker(waiting);
  if (!channel_.send(message).ok()) return Asked::too_many;
  waiting_.emplace(last_, std::move(waiting));
  return Asked::yes;
}

std::optional<WaitingResolver> NameQueries::take(uint32_t query) {
  auto found = waiting_.extract(query);
  if (!found) return std::nullopt;
  return std::move(found.mapped());
}

// Of a connection only its end is ours to see; few resolvers use one.
wire::Asker NameQueries::find_asker(const WaitingResolver& waiting) {
  if (waiting.from.ss_family != AF_INET) return {};
  // SAFETY: the family says that it is one.
  const auto& from = reinterpret_cast<const sockaddr_in&>(waiting.from);
  const sys::Endpoint local{{reinterpret_cast<const char*>(&from.sin_addr), 4},
                            ntohs(from.sin_port)};
  return askers_.find(sys::SocketDiag::Protocol::udp, local,
                      {std::string(kResolverAddress), kResolverPort});
}

wire::DnsReply reply_of(const wire::DnsQuery& query, const wire::NameAnswer& answer) {
  wire::DnsReply reply;
  if (answer.v4().empty() && answer.v6().empty()) {
    reply.code = wire::DnsCode::name_error;
    reply.reason = answer.reason();
    return reply;
  }
  reply.ttl = kSecondsToKeep;
  if (query.type == wire::kDnsTypeA && !answer.v4().empty()) reply.addresses = {answer.v4()};
  if (query.type == wire::kDnsTypeAaaa && !answer.v6().empty()) reply.addresses = {answer.v6()};
  return reply;
}

}  // namespace paddock::agent
