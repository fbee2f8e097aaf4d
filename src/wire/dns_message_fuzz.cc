// Hostile questions: what is read fits its bounds, and what we answer is read back as its question.
#include "base/testing/fuzz.h"
#include "wire/dns_message.h"

PD_FUZZ_TARGET(dns_message) {
  using namespace paddock::wire;
  using paddock::testing::require;
  auto query = parse_dns_query(bytes);
  if (!query.ok()) {
    const std::string error = dns_format_error(bytes);
    require(error.empty() || error.size() == 12);
    return;
  }
  require(query->name.size() <= 4 * 255);
  const std::string reply = build_dns_reply(
      *query,
      {.addresses = {"\xc6\x12\x01\x10", std::string(16, 'x')}, .reason = std::string(500, 'r')});
  require(reply.size() <= std::max<size_t>(512, std::min<size_t>(query->udp_size, 1232)));
  require(!parse_dns_query(reply).ok());
  require(std::string_view(reply).substr(12).starts_with(query->question));
}
