// Names that the host was asked for, and who waits for each answer.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <map>
#include <optional>

#include "agent/asker.h"
#include "wire/channel.h"
#include "wire/dns_message.h"

namespace paddock::agent {

// A resolver of a program that waits. By datagram, or on a connection of the name server's.
struct WaitingResolver {
  wire::DnsQuery query;
  sockaddr_storage from{};
  socklen_t from_size = 0;
  uint64_t connection = 0;  // 0: by datagram
};

// At most wire::kMaxQueries wait. Lives in the agent's loop.
class NameQueries {
 public:
  NameQueries(wire::AgentChannel& channel, AskerFinder& askers)
      : channel_(channel), askers_(askers) {}

  enum class Asked { yes, too_many };
  Asked ask(WaitingResolver waiting);
  // Who waits for this answer; no longer then. nullopt: nobody.
  std::optional<WaitingResolver> take(uint32_t query);
  // Nobody answers any more.
  void on_host_gone() { host_gone_ = true; }
  void on_host_back() { host_gone_ = false; }

 private:
  wire::Asker find_asker(const WaitingResolver& waiting);

  wire::AgentChannel& channel_;
  AskerFinder& askers_;
  std::map<uint32_t, WaitingResolver> waiting_;
  uint32_t last_ = 0;
  bool host_gone_ = false;
};

// The reply that the host's answer makes.
wire::DnsReply reply_of(const wire::DnsQuery& query, const wire::NameAnswer& answer);

}  // namespace paddock::agent
