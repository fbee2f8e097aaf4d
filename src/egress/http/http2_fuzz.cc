// Hostile frames into both sides' sessions: nothing breaks, and what is told of streams is bounded.
#include "base/testing/fuzz.h"
#include "egress/http/http2_session.h"

namespace paddock::egress::http {
namespace {

class Silence : public net::Stream {
 public:
  Result<size_t> read(net::Task&, std::span<char>) override { return size_t{0}; }
  Status wait_readable(net::Task&) override { return {}; }
  Status write(net::Task&, std::string_view) override { return {}; }
  Status end_writing(net::Task&) override { return {}; }
  void abort() override {}
};

class Counting : public Http2Events {
 public:
  void on_fields(Http2StreamId, Fields fields, Last) override {
    testing::require(fields.size() <= 256);
  }
  void on_data(Http2StreamId, std::string_view bytes) override { data += bytes.size(); }
  void on_end(Http2StreamId) override {}
  void on_close(Http2StreamId, uint32_t) override {}
  void on_going_away() override {}
  size_t data = 0;
};

void check(Http2Role role, std::string_view bytes, net::Loop& loop) {
  Silence stream;
  Counting events;
  Http2Session session(loop, role, stream, events);
  size_t given = 0;
  while (given < bytes.size() && session.receive(bytes.substr(given, 100)).ok()) given += 100;
  testing::require(events.data <= bytes.size());
}

}  // namespace
}  // namespace paddock::egress::http

PD_FUZZ_TARGET(http2) {
  using namespace paddock::egress::http;
  static paddock::net::Loop loop;
  check(Http2Role::server, bytes, loop);
  check(Http2Role::client, bytes, loop);
}
