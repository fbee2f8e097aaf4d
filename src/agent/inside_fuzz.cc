// What the agent parses of the sandbox's own making: DNS queries, packets, lines of /proc. Byte 0
// says which.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "agent/dns_stub.h"
#include "agent/packet_log.h"
#include "agent/process_tree.h"
#include "base/strings.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

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

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  // SAFETY: bytes as chars.
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 4 == 0) check_dns(bytes);
  if (data[0] % 4 == 1) require(paddock::agent::describe_packet(bytes).size() < 80);
  if (data[0] % 4 == 2) require(paddock::agent::parse_packet_log(bytes).size() <= size / 16);
  if (data[0] % 4 == 3) require(paddock::agent::parse_process(bytes).pid >= 0);
  return 0;
}
