#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "net/http/server.h"
#include "net/testing/on_loop.h"
#include "sys/testing/temp_dir.h"

namespace paddock::net::http {
namespace {

using namespace std::chrono_literals;
using net::testing::read_text;
using net::testing::run_on;

const model::IpAddress kTlsAddress = model::IpAddress::parse("127.0.0.1").value();

void answer_path(Task& task, Exchange& exchange) {
  (void)exchange.respond(task, {200, {}, exchange.request().target}).ok();
}
void refuse_plain(Task& task, Exchange& exchange) {
  (void)exchange.respond(task, {400, {}, "use https"}).ok();
}

class SecureServing : public ::testing::Test {
 protected:
  void start(Patience patience = {}, size_t max_greetings = 256) {
    auto security = std::make_shared<Security>(Security{*identity_, refuse_plain, max_greetings});
    security->on_failed = [this](const Error&) { ++failed_; };
    listener_ = Listener::open(loop_, kTlsAddress, 0).value();
    loop_.spawn([this, patience, security](Task& task) {
      serve(task, listener_, answer_path, {.patience = patience, .security = security});
    });
  }
  ~SecureServing() override {
    run_on(loop_, [this](Task&) { std::exchange(listener_, nullptr)->close(); });
  }

  std::unique_ptr<SocketStream> connect(Task& task) {
    return dial(task, kTlsAddress, listener_->port(), 5s).value();
  }
  std::unique_ptr<TlsStream> connect_tls(Task& task) {
    auto client = std::make_unique<TlsStream>(loop_, connect(task),
                                              make_client(*context_, "localhost", {}).value());
    const Status met = client->handshake(task);
    EXPECT_TRUE(met.ok()) << met.error().describe();
    return client;
  }
  std::string ask(Task& task, Stream& client, const std::string& path) {
    EXPECT_TRUE(
        client.write(task, "GET " + path + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            .ok());
    return read_text(task, client, 1u << 20);
  }

  sys::testing::TempDir dir_;
  LocalIdentityOptions options_{dir_.path() + "/ca", "localhost", {}};
  std::unique_ptr<ServerIdentity> identity_ =
      make_local_identity(options_, ::time(nullptr)).value();
  SslContextPtr context_ =
      make_client_context(local_authority(options_, ::time(nullptr)).value()).value();
  std::atomic<int> failed_ = 0;
  std::shared_ptr<Listener> listener_;
  Loop loop_;  // last: its end ends the coroutines that use the others
};

TEST_F(SecureServing, RequestsAreAnsweredAndTheEndIsTlssOwn) {
  start();
  run_on(loop_, [&](Task& task) {
    auto client = connect_tls(task);
    EXPECT_NE(ask(task, *client, "/here").find("/here"), std::string::npos);
    char more;
    auto end = client->read(task, std::span(&more, 1));
    ASSERT_TRUE(end.ok()) << "cut off";
    EXPECT_EQ(*end, 0u);
  });
  EXPECT_EQ(failed_, 0);
}

TEST_F(SecureServing, PlainHttpIsToldWhatToDo) {
  start();
  run_on(loop_, [&](Task& task) {
    auto client = connect(task);
    const std::string got = ask(task, *client, "/secret");
    EXPECT_TRUE(got.starts_with("HTTP/1.1 400 ")) << got;
    EXPECT_TRUE(got.ends_with("use https")) << got;
    EXPECT_EQ(ask(task, *connect_tls(task), "/a").substr(0, 12), "HTTP/1.1 200");
  });
}

TEST_F(SecureServing, JunkIsCutOff) {
  start();
  run_on(loop_, [&](Task& task) {
    for (const std::string& junk : {std::string("\x16\x03\x01\xff\xffjunk"),
                                    std::string(3000, '\0'), std::string("\x80\x2e\x01\x03\x01")}) {
      auto client = connect(task);
      EXPECT_TRUE(client->write(task, junk).ok());
      (void)client->end_writing(task).ok();
      EXPECT_EQ(read_text(task, *client, 1u << 20).find("HTTP"), std::string::npos);
    }
  });
  EXPECT_EQ(failed_, 3);
}

TEST_F(SecureServing, AHandshakeThatDoesNotComeIsGivenUp) {
  start({.greeting = 100ms});
  run_on(loop_, [&](Task& task) {
    for (const char* begun : {"", "\x16", "\x16\x03\x01"}) {
      auto client = connect(task);
      EXPECT_TRUE(client->write(task, begun).ok());
      EXPECT_EQ(read_text(task, *client, 100), "");
    }
  });
  EXPECT_EQ(failed_, 3);
}

TEST_F(SecureServing, AClientThatIsServedIsNotHeldToTheHandshakesTime) {
  start({.greeting = 300ms});
  run_on(loop_, [&](Task& task) {
    auto client = connect_tls(task);
    task.sleep(600ms);
    EXPECT_EQ(ask(task, *client, "/a").substr(0, 12), "HTTP/1.1 200");
  });
}

TEST_F(SecureServing, HandshakesThatWaitHoldUpNobody) {
  start({}, 8);
  run_on(loop_, [&](Task& task) {
    std::vector<std::unique_ptr<SocketStream>> slow;
    for (int i = 0; i < 8; ++i) {
      slow.push_back(connect(task));
      EXPECT_TRUE(slow.back()->write(task, "\x16\x03").ok());
    }
    task.sleep(50ms);
    EXPECT_EQ(failed_, 0);
    EXPECT_EQ(ask(task, *connect_tls(task), "/a").substr(0, 12), "HTTP/1.1 200");
    EXPECT_EQ(read_text(task, *slow.front(), 100), "") << "the oldest had to go";
    EXPECT_EQ(failed_, 1);
    EXPECT_TRUE(slow.back()->write(task, "\x01").ok()) << "the others may go on";
  });
}

}  // namespace
}  // namespace paddock::net::http
