#include "egress/http/http2_proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "egress/http/http2_session.h"
#include "net/socket_stream.h"
#include "net/testing/on_loop.h"

namespace paddock::egress::http {
namespace {

using net::testing::run_on;
using net::testing::socket_pair;
using ::testing::HasSubstr;

class PassingFilter : public BodyFilter {
 public:
  Status feed(std::string_view bytes, std::string& out) override {
    if (bytes.find("stop") != std::string_view::npos)
      return Error(Code::permission_denied, "stopped");
    out += bytes;
    return {};
  }
  Status finish(std::string&) override { return {}; }
  Status see_trailers(Fields&) override { return {}; }
};

struct Record {
  int admitted = 0;
  std::vector<std::string> ends;
};

class PassingRequest : public AdmittedRequest {
 public:
  explicit PassingRequest(Record& record) : record_(record) {}
  BodyFilter& request_body() override { return request_; }
  Status see_response(Response& response) override {
    response.fields.push_back({"x-seen", "1"});
    return {};
  }
  BodyFilter& response_body() override { return response_; }
  void ended(const Status& status) override {
    record_.ends.push_back(status.ok() ? "" : Status(status).error().describe());
  }

 private:
  Record& record_;
  PassingFilter request_, response_;
};

class FakeGuard : public RequestGuard {
 public:
  Answer decide(net::Task&, Request& request, BodySource&) override {
    if (request.path() == "/no")
      return {.admitted = nullptr, .refusal = {.rule = "egress:x", .reason = "no"}};
    ++record.admitted;
    return {.admitted = std::make_unique<PassingRequest>(record), .refusal = {}};
  }
  void see_malformed(const Error&) override { ++malformed; }

  Record record;
  int malformed = 0;
};

// What one side of a test has seen of a stream.
struct Seen {
  Fields fields;
  std::string body;
  bool ended = false;
  std::optional<uint32_t> closed;
};

// The host: echoes bodies, answers bodiless requests with a word and trailers.
class EchoHost : public Http2Events {
 public:
  EchoHost(net::Loop& loop, net::Stream& stream)
      : loop_(loop), session(loop, Http2Role::server, stream, *this) {}

  void on_fields(Http2StreamId stream, Fields fields, Last last) override {
    seen[stream].fields = fields;
    auto body = std::make_shared<Http2Outflow>(loop_);
    bodies_[stream] = body;
    body->on_emptied = [this, stream] {
      session.give_back(stream, std::exchange(unpaid_[stream], 0));
    };
    if (last == Last::yes) {
      body->bytes = "word";
      body->ended = true;
      body->trailers = {{"x-trailer", "t"}};
    }
    EXPECT_TRUE(session.send_response(stream, {{":status", "200"}}, body).ok());
  }
  void on_data(Http2StreamId stream, std::string_view bytes) override {
    unpaid_[stream] += bytes.size();
    bodies_[stream]->bytes += bytes;
    session.resume(stream);
  }
  void on_end(Http2StreamId stream) override {
    bodies_[stream]->ended = true;
    session.resume(stream);
  }
  void on_close(Http2StreamId stream, uint32_t error) override { seen[stream].closed = error; }
  void on_going_away() override {}

 private:
  net::Loop& loop_;
  std::map<Http2StreamId, std::shared_ptr<Http2Outflow>> bodies_;
  std::map<Http2StreamId, size_t> unpaid_;

 public:
  std::map<Http2StreamId, Seen> seen;
  Http2Session session;
};

class Program : public Http2Events {
 public:
  Program(net::Loop& loop, net::Stream& stream) : session(loop, Http2Role::client, stream, *this) {}

  void on_fields(Http2StreamId stream, Fields fields, Last last) override {
    Seen& one = seen[stream];
    one.fields.insert(one.fields.end(), fields.begin(), fields.end());
    one.ended = one.ended || last == Last::yes;
  }
  void on_data(Http2StreamId stream, std::string_view bytes) override {
    seen[stream].body += bytes;
    session.give_back(stream, bytes.size());
  }
  void on_end(Http2StreamId stream) override { seen[stream].ended = true; }
  void on_close(Http2StreamId stream, uint32_t error) override { seen[stream].closed = error; }
  void on_going_away() override { went_away = true; }

  std::map<Http2StreamId, Seen> seen;
  bool went_away = false;
  Http2Session session;
};

// program ↔ proxy ↔ host, all on one loop.
struct Line {
  Line() {
    auto left = socket_pair(), right = socket_pair();
    program_stream = std::make_unique<net::SocketStream>(loop, std::move(left.a));
    below = std::make_unique<net::SocketStream>(loop, std::move(left.b));
    above = std::make_unique<net::SocketStream>(loop, std::move(right.a));
    host_stream = std::make_unique<net::SocketStream>(loop, std::move(right.b));
    run_on(loop, [this](net::Task&) {
      program = std::make_unique<Program>(loop, *program_stream);
      host = std::make_unique<EchoHost>(loop, *host_stream);
    });
    spawn([this](net::Task& task) { (void)program->session.run_reader(task); });
    spawn([this](net::Task& task) { (void)program->session.run_writer(task); });
    spawn([this](net::Task& task) { (void)host->session.run_reader(task); });
    spawn([this](net::Task& task) { (void)host->session.run_writer(task); });
    spawn([this](net::Task& task) {
      status = serve_http2(task, {.client = *below,
                                  .client_prefix = {},
                                  .upstream = *above,
                                  .scheme = Scheme::https,
                                  .guard = guard});
      served = true;
    });
  }
  ~Line() {
    run_on(loop, [this](net::Task& task) {
      program->session.stop();
      host->session.stop();
      program_stream->abort();
      host_stream->abort();
      while (running > 0) task.sleep(std::chrono::milliseconds(1));
    });
  }
  void spawn(std::function<void(net::Task&)> body) {
    ++running;
    loop.spawn([this, body = std::move(body)](net::Task& task) {
      body(task);
      --running;
    });
  }
  template <typename F>
  bool wait(F holds) {
    return run_on(loop, [&](net::Task& task) {
      for (int i = 0; i < 10000 && !holds(); ++i) task.sleep(std::chrono::milliseconds(1));
      return holds();
    });
  }
  Fields head(const std::string& path, const std::string& method = "GET") {
    return {
        {":method", method}, {":scheme", "https"}, {":authority", "a.example"}, {":path", path}};
  }
  Http2StreamId send(Fields fields, std::shared_ptr<Http2Outflow> body = nullptr) {
    return run_on(loop,
                  [&](net::Task&) { return program->session.send_request(fields, body).value(); });
  }

  net::Loop loop;
  std::unique_ptr<net::SocketStream> program_stream, below, above, host_stream;
  std::unique_ptr<Program> program;
  std::unique_ptr<EchoHost> host;
  FakeGuard guard;
  Status status;
  bool served = false;
  std::atomic<int> running{0};
};

std::string field(const Seen& seen, std::string_view name) {
  const Field* found = find_field(seen.fields, name);
  return found == nullptr ? "" : found->value;
}

TEST(Http2Proxy, ARequestAndItsTrailersPass) {
  Line line;
  const Http2StreamId stream = line.send(line.head("/x"));
  ASSERT_TRUE(line.wait([&] { return line.program->seen[stream].closed.has_value(); }));
  const Seen& seen = line.program->seen[stream];
  EXPECT_EQ(seen.closed, 0u);
  EXPECT_EQ(seen.body, "word");
  EXPECT_EQ(field(seen, ":status"), "200");
  EXPECT_EQ(field(seen, "x-seen"), "1");
  EXPECT_EQ(field(seen, "x-trailer"), "t");
  EXPECT_EQ(field(line.host->seen.begin()->second, ":path"), "/x");
  ASSERT_TRUE(line.wait([&] { return line.guard.record.ends.size() == 1; }));
  EXPECT_EQ(line.guard.record.ends[0], "");
}

TEST(Http2Proxy, ABodyBeyondEveryWindowPassesBothWays) {
  Line line;
  auto body = std::make_shared<Http2Outflow>(line.loop);
  body->bytes = std::string(8 << 20, 'x');
  body->ended = true;
  const Http2StreamId stream = line.send(line.head("/", "POST"), body);
  ASSERT_TRUE(line.wait([&] { return line.program->seen[stream].closed.has_value(); }));
  EXPECT_EQ(line.program->seen[stream].body.size(), 8u << 20);
}

TEST(Http2Proxy, ARefusalIsAResponseAndOthersGoOn) {
  Line line;
  const Http2StreamId refused = line.send(line.head("/no")), fine = line.send(line.head("/yes"));
  ASSERT_TRUE(line.wait([&] {
    return line.program->seen[refused].closed.has_value() &&
           line.program->seen[fine].closed.has_value();
  }));
  EXPECT_EQ(field(line.program->seen[refused], ":status"), "403");
  EXPECT_EQ(field(line.program->seen[refused], "x-paddock-denied"), "egress:x");
  EXPECT_THAT(line.program->seen[refused].body, HasSubstr(R"("reason":"no")"));
  EXPECT_EQ(field(line.program->seen[fine], ":status"), "200");
  EXPECT_EQ(line.host->seen.size(), 1u);
}

TEST(Http2Proxy, ABodyThatIsStoppedIsCutOffOnBothSides) {
  Line line;
  auto body = std::make_shared<Http2Outflow>(line.loop);
  body->bytes = "stop";
  const Http2StreamId stream = line.send(line.head("/", "POST"), body);
  ASSERT_TRUE(line.wait([&] {
    return !line.host->seen.empty() && line.host->seen.begin()->second.closed.has_value();
  }));
  EXPECT_NE(line.host->seen.begin()->second.closed, 0u);
  ASSERT_TRUE(line.wait([&] {
    return line.program->seen[stream].ended || line.program->seen[stream].closed.has_value();
  }));
  EXPECT_THAT(line.guard.record.ends.at(0), HasSubstr("stopped"));
}

TEST(Http2Proxy, WhatNamesTwoHostsIsRefused) {
  Line line;
  Fields two = line.head("/");
  two.push_back({"host", "b.example"});
  Fields plain = line.head("/");
  plain[1].value = "http";
  for (const Fields& fields :
       {two, plain, Fields{{":method", "CONNECT"}, {":authority", "b.example:443"}}}) {
    const Http2StreamId stream = line.send(fields);
    ASSERT_TRUE(line.wait([&] { return line.program->seen[stream].closed.has_value(); }));
    EXPECT_NE(line.program->seen[stream].closed, 0u);
  }
  EXPECT_EQ(line.guard.record.admitted, 0);
  EXPECT_TRUE(line.host->seen.empty());
}

TEST(Http2Proxy, AProgramThatGivesUpIsGivenUpOnTheOtherSide) {
  Line line;
  auto body = std::make_shared<Http2Outflow>(line.loop);
  body->bytes = "begin";
  const Http2StreamId stream = line.send(line.head("/", "POST"), body);
  ASSERT_TRUE(line.wait([&] { return line.program->seen[stream].body == "begin"; }));
  run_on(line.loop, [&](net::Task&) { line.program->session.reset(stream, kHttp2Cancel); });
  ASSERT_TRUE(line.wait([&] { return line.host->seen.begin()->second.closed.has_value(); }));
  EXPECT_EQ(line.host->seen.begin()->second.closed, kHttp2Cancel);
}

TEST(Http2Proxy, AHostThatClosesEndsTheConnectionAfterItsResponses) {
  Line line;
  const Http2StreamId stream = line.send(line.head("/x"));
  ASSERT_TRUE(line.wait([&] { return line.program->seen[stream].closed.has_value(); }));
  run_on(line.loop, [&](net::Task& task) { (void)line.host_stream->end_writing(task); });
  ASSERT_TRUE(line.wait([&] { return line.served; }));
  EXPECT_TRUE(line.program->went_away);
}

TEST(Http2Proxy, JunkEndsIt) {
  Line line;
  run_on(line.loop, [&](net::Task& task) {
    (void)line.program_stream->write(task, "GET / HTTP/1.1\r\n\r\n");
  });
  ASSERT_TRUE(line.wait([&] { return line.served; }));
  EXPECT_TRUE(line.program->went_away);
  EXPECT_TRUE(line.host->seen.empty());
}

}  // namespace
}  // namespace paddock::egress::http
