#include "net/http/server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "net/testing/on_loop.h"
#include "net/worker.h"

namespace paddock::net::http {
namespace {

using namespace std::chrono_literals;
using net::testing::run_on;

const model::IpAddress kLoopback = model::IpAddress::parse("127.0.0.1").value();

// A server whose clients talk to it in plain text.
class Serving : public ::testing::Test {
 protected:
  void start(Handler handler, ServerOptions options = {}) {
    handler_ = std::move(handler);
    listener_ = Listener::open(loop_, kLoopback, 0).value();
    loop_.spawn([this, options](Task& task) { serve(task, listener_, handler_, options); });
  }

  std::unique_ptr<SocketStream> connect(Task& task) {
    return dial(task, kLoopback, listener_->port(), 5s).value();
  }

  // Everything that comes until the server closes.
  static std::string read_all(Task& task, Stream& stream) {
    return net::testing::read_text(task, stream, 1u << 30);
  }

  std::string ask(const std::string& request) {
    return run_on(loop_, [&](Task& task) {
      auto client = connect(task);
      EXPECT_TRUE(client->write(task, request).ok());
      return read_all(task, *client);
    });
  }

  Handler handler_;
  std::shared_ptr<Listener> listener_;
  Loop loop_;  // last: its end ends the coroutines that use the others

  ~Serving() override {
    if (listener_) {
      run_on(loop_, [this](Task&) {
        std::exchange(listener_, nullptr)->close();
        return true;
      });
    }
  }
};

void echo(Task& task, Exchange& exchange) {
  auto body = exchange.read_whole_body(task, 1u << 20);
  if (!body.ok()) return;
  (void)exchange.respond(task, {200, {}, exchange.request().method + " " + *body}).ok();
}

TEST_F(Serving, SeveralRequestsShareAConnection) {
  start(echo);
  const std::string got =
      ask("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
          "GET /b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(got,
            "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nPOST abc"
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nGET ");
}

TEST_F(Serving, ABodyThatTheHandlerDidNotWantDoesNotBecomeTheNextRequest) {
  start([](Task& task, Exchange& exchange) {
    (void)exchange.respond(task, {200, {}, exchange.request().target}).ok();
  });
  const std::string got =
      ask("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
          "1c\r\nGET /smuggled HTTP/1.1\r\n\r\n\r\n\r\n0\r\n\r\n"
          "GET /b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(got.find("smuggled"), std::string::npos) << got;
  EXPECT_NE(got.find("/b"), std::string::npos) << got;
}

TEST_F(Serving, AResponseStreamsInChunks) {
  start([](Task& task, Exchange& exchange) {
    EXPECT_TRUE(exchange.begin(task, {200, {{"Content-Type", "text/plain"}}, ""}, {}).ok());
    EXPECT_TRUE(exchange.write(task, "hello").ok());
    EXPECT_TRUE(exchange.write(task, std::string(17, 'x')).ok());
    EXPECT_TRUE(exchange.finish(task).ok());
  });
  const std::string got = ask("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_NE(got.find("Transfer-Encoding: chunked"), std::string::npos);
  EXPECT_TRUE(got.ends_with("5\r\nhello\r\n11\r\nxxxxxxxxxxxxxxxxx\r\n0\r\n\r\n")) << got;
}

TEST_F(Serving, ABodyThatIsCutShortClosesTheConnection) {
  start([](Task& task, Exchange& exchange) {
    EXPECT_TRUE(exchange.begin(task, {200, {}, ""}, 10).ok());
    EXPECT_TRUE(exchange.write(task, "half").ok());
    EXPECT_TRUE(exchange.finish(task).ok());
  });
  EXPECT_TRUE(ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n").ends_with("half"));
}

TEST_F(Serving, AClientThatLeavesDuringAResponseIsNoticed) {
  std::promise<void> noticed;
  start([&](Task& task, Exchange& exchange) {
    Event gone(loop_of(task));
    exchange.on_client_gone([&] { gone.set(); });
    EXPECT_TRUE(exchange.begin(task, {200, {}, ""}, {}).ok());
    gone.wait(task);
    noticed.set_value();
  });
  run_on(loop_, [&](Task& task) {
    auto client = connect(task);
    EXPECT_TRUE(client->write(task, "GET / HTTP/1.1\r\nHost: h\r\n\r\n").ok());
    net::testing::read_text(task, *client, 20);
    return true;
  });
  EXPECT_EQ(noticed.get_future().wait_for(10s), std::future_status::ready);
}

TEST_F(Serving, AnswersExpectContinueBeforeItReadsTheBody) {
  start(echo);
  const std::string got =
      ask("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: "
          "close\r\n\r\nok");
  EXPECT_TRUE(got.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")) << got;
}

TEST_F(Serving, WhatIsNoRequestIsRefused) {
  start(echo);
  EXPECT_TRUE(ask("\x16\x03\x01\x02\r\n\r\n").starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(ask("GET / HTTP/1.1\r\nX: " + std::string(70'000, 'a') + "\r\n\r\n")
                  .starts_with("HTTP/1.1 431 "));
}

TEST_F(Serving, AHeadThatTricklesIsCutOff) {
  ServerOptions options;
  options.patience.head = 100ms;
  start(echo, options);
  EXPECT_TRUE(ask("GET / HTTP/1.1\r\nHost:").starts_with("HTTP/1.1 408 "));
}

TEST_F(Serving, ABodyThatStopsIsCutOff) {
  ServerOptions options;
  options.patience.body = 100ms;
  start(
      [](Task& task, Exchange& exchange) {
        auto body = exchange.read_whole_body(task, 100);
        EXPECT_EQ(body.error().code(), Code::timed_out);
        (void)exchange.respond(task, {408, {}, ""}).ok();
      },
      options);
  EXPECT_TRUE(ask("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab")
                  .starts_with("HTTP/1.1 408 "));
}

TEST_F(Serving, AReaderThatStopsStallsNobodyElseAndIsCutOff) {
  ServerOptions options;
  options.patience.write = 300ms;
  std::promise<Code> failed;
  start(
      [&](Task& task, Exchange& exchange) {
        if (exchange.request().target == "/quick") {
          (void)exchange.respond(task, {200, {}, "quick"}).ok();
          return;
        }
        EXPECT_TRUE(exchange.begin(task, {200, {}, ""}, {}).ok());
        const std::string piece(1u << 20, 'x');
        Status written;
        while (written.ok()) written = exchange.write(task, piece);
        failed.set_value(written.error().code());
      },
      options);
  auto stalled = run_on(loop_, [&](Task& task) {
    auto client = connect(task);
    EXPECT_TRUE(client->write(task, "GET /slow HTTP/1.1\r\nHost: h\r\n\r\n").ok());
    return client;
  });
  EXPECT_TRUE(
      ask("GET /quick HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").ends_with("quick"));
  EXPECT_EQ(failed.get_future().get(), Code::timed_out);
  run_on(loop_, [&](Task&) {
    stalled.reset();
    return true;
  });
}

TEST_F(Serving, MoreConnectionsThanAllowedAreTurnedAway) {
  ServerOptions options;
  options.max_connections = 1;
  start(echo, options);
  run_on(loop_, [&](Task& task) {
    auto first = connect(task);
    EXPECT_TRUE(first->write(task, "GET / HTTP/1.1\r\nHost: h\r\n\r\n").ok());
    net::testing::read_text(task, *first, 20);
    auto second = connect(task);
    EXPECT_TRUE(read_all(task, *second).starts_with("HTTP/1.1 503 "));
    return true;
  });
}

TEST_F(Serving, ALargeBodyPassesThroughAFlatBuffer) {
  constexpr size_t kSize = 20u << 20;
  start([](Task& task, Exchange& exchange) {
    size_t total = 0;
    char buffer[16384];
    while (true) {
      auto count = exchange.read_body(task, buffer);
      if (!count.ok() || *count == 0) break;
      total += *count;
    }
    (void)exchange.respond(task, {200, {}, std::to_string(total)}).ok();
  });
  const std::string got =
      ask("POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: " +
          std::to_string(kSize) + "\r\n\r\n" + std::string(kSize, 'b'));
  EXPECT_TRUE(got.ends_with(std::to_string(kSize))) << got;
}

TEST(Worker, ACoroutineWaitsForItAndOthersGoOn) {
  Loop loop;
  Worker worker;
  std::atomic<int> others = 0;
  loop.spawn([&](Task& task) {
    for (int i = 0; i < 3; ++i) {
      task.sleep(1ms);
      ++others;
    }
  });
  EXPECT_EQ(run_on(loop,
                   [&](Task& task) {
                     return worker.run(task, [&] {
                       while (others < 3) std::this_thread::sleep_for(1ms);
                       return 42;
                     });
                   }),
            42);
}

TEST(Listener, SaysThatAPortIsInUse) {
  Loop loop;
  auto first = Listener::open(loop, kLoopback, 0).value();
  auto second = Listener::open(loop, kLoopback, first->port());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code(), Code::already_exists);
}

}  // namespace
}  // namespace paddock::net::http
