// Hostile greetings: the same however they are cut, and the host's text is what was sent.
#include "base/testing/fuzz.h"
#include "wire/proxy_request.h"

PD_FUZZ_TARGET(proxy_request) {
  using paddock::testing::require;
  using namespace paddock::wire;
  ProxyGreeting whole, pieces;
  auto at_once = whole.receive(bytes);
  bool ended = false;
  for (size_t at = 0; at < bytes.size() && !ended; ++at) {
    auto got = pieces.receive(bytes.substr(at, 1));
    ended = !got.ok() || got->has_value();
    if (got.ok() && got->has_value()) {
      require(at_once.ok() && at_once->has_value());
      require((*got)->host == (*at_once)->host && (*got)->port == (*at_once)->port);
      require((*got)->host.size() <= bytes.size() + 40);
    }
  }
  if (at_once.ok() && at_once->has_value()) require(ended);
}
