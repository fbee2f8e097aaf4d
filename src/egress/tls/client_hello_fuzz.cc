// However a stream is cut, the answer is the same in the end and never changes once given.
#include "base/testing/fuzz.h"
#include "egress/tls/client_hello.h"

PD_FUZZ_TARGET(client_hello) {
  using paddock::egress::tls::parse_client_hello;
  using paddock::testing::require;
  auto whole = parse_client_hello(bytes);
  for (size_t cut = bytes.size() < 200 ? 0 : bytes.size() - 200; cut < bytes.size(); ++cut) {
    auto part = parse_client_hello(bytes.substr(0, cut));
    if (!part.ok()) require(!whole.ok());
    if (part.ok() && part->has_value()) {
      require(whole.ok() && whole->has_value());
      require((*part)->server_name == (*whole)->server_name);
      require((*part)->protocols == (*whole)->protocols);
    }
  }
}
