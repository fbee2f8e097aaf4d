// Two streams with a carrier between them, in tests.
#pragma once

#include <memory>
#include <utility>

#include "net/socket_stream.h"
#include "net/testing/on_loop.h"

namespace paddock::net::testing {

// client ↔ (a, b pumped) ↔ server
struct Line {
  explicit Line(Loop& loop) {
    auto left = socket_pair(), right = socket_pair();
    client = std::make_unique<SocketStream>(loop, std::move(left.a));
    a = std::make_unique<SocketStream>(loop, std::move(left.b));
    b = std::make_unique<SocketStream>(loop, std::move(right.a));
    server = std::make_unique<SocketStream>(loop, std::move(right.b));
  }
  std::unique_ptr<SocketStream> client, a, b, server;
};

}  // namespace paddock::net::testing
