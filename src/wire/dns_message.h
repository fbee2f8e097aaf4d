// DNS messages (RFC 1035, EDNS of RFC 6891, extended errors of RFC 8914), as far as a stub resolver
// needs them that answers addresses itself: questions in, answers out. Pure. The agent serves the
// sandbox's resolvers with it; what a question may hold is hostile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace paddock::wire {

enum class DnsCode : uint8_t {
  no_error = 0,
  format_error = 1,
  server_failure = 2,
  name_error = 3,  // NXDOMAIN
  not_implemented = 4,
  refused = 5
};

inline constexpr uint16_t kDnsTypeA = 1;
inline constexpr uint16_t kDnsTypePtr = 12;
inline constexpr uint16_t kDnsTypeAaaa = 28;
inline constexpr uint16_t kDnsClassIn = 1;
// Larger questions are refused: the longest name fits four times over.
inline constexpr size_t kMaxDnsQuestion = 1232;

struct DnsQuery {
  uint16_t id = 0;
  bool recursion_desired = false;
  bool checking_disabled = false;
  bool has_edns = false;
  uint16_t udp_size = 512;
  // Labels joined by dots, no dot at the end, the root as ".", capitals kept. A byte that no name
  // in text has (a dot inside a label, a control, '\\', beyond ASCII) is written \DDD.
  std::string name;
  uint16_t type = 0;
  uint16_t klass = 0;
  std::string question;  // its bytes, to be repeated: some resolvers check the capitals (0x20)
};

// data_corrupt: answer with dns_format_error(), or not at all when that is empty.
Result<DnsQuery> parse_dns_query(std::string_view message);

struct DnsReply {
  DnsCode code = DnsCode::no_error;
  std::vector<std::string> addresses;  // 4 bytes each for A, 16 for AAAA
  uint32_t ttl = 0;
  // Why it is refused: told in an extended error ("Prohibited") to a resolver that speaks EDNS.
  std::string reason;
};

// A whole message, no longer than the query allows; addresses of another length than the type's are
// left out.
std::string build_dns_reply(const DnsQuery& query, const DnsReply& reply);

// For a message that is no query of ours: FORMERR, or NOTIMP for another operation. Empty: it is an
// answer itself or has no header, and deserves none.
std::string dns_format_error(std::string_view message);

}  // namespace paddock::wire
