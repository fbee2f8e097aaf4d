// What the agent parses of the sandbox's own making: DNS queries, packets, lines of /proc. Byte 0
// says which.
#include <cstdint>
#include <string_view>

#include "agent/dns_stub.h"
#include "agent/packet_log.h"
#include "agent/process_tree.h"
#include "base/strings.h"
#include "base/testing/fuzz.h"

namespace {

using paddock::testing::require;

void check_dns(std::string_view query) {
  using paddock::agent::OtherNames;
  const auto asked = paddock::agent::answer_query(query, OtherNames::of_the_host);
  const auto answer = paddock::agent::answer_query(query, OtherNames::refused);
  require(asked.has_value() == answer.has_value());
  if (!answer) return;
  require(!asked->message.empty() || !asked->query.name.empty());
  require(answer->message.size() >= 12 && answer->message.size() <= query.size() + 28);
  require(answer->message.substr(0, 2) == query.substr(0, 2));
  require((static_cast<uint8_t>(answer->message[2]) & 0x80) != 0);
  require(answer->refused_name.size() <= 4 * 255);
  require(paddock::is_valid_utf8(answer->refused_name));
}

}  // namespace

PD_FUZZ_TARGET(inside) {
  if (bytes.empty()) return;
  const int kind = static_cast<uint8_t>(bytes[0]) % 4;
  bytes.remove_prefix(1);
  if (kind == 0) check_dns(bytes);
  if (kind == 1) require(paddock::agent::describe_packet(bytes).size() < 80);
  if (kind == 2) require(paddock::agent::parse_packet_log(bytes).size() <= bytes.size() / 16);
  if (kind == 3) require(paddock::agent::parse_process(bytes).pid >= 0);
}
