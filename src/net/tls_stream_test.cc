#include "net/tls_stream.h"

#include <gtest/gtest.h>

#include "net/socket_stream.h"
#include "net/testing/on_loop.h"
#include "net/tls_context.h"

namespace paddock::net {
namespace {

using testing::read_text;
using testing::run_on;
using testing::socket_pair;

struct OwnAuthority {
  PkeyPtr key = make_key().value();
  X509Ptr certificate = make_authority(*key, {"test authority"}).value();

  SslContextPtr server_for(const std::string& host) {
    PkeyPtr leaf_key = make_key().value();
    X509Ptr leaf = make_leaf({{host}, *leaf_key, *certificate, *key}).value();
    return make_server_context(*leaf, *leaf_key, {certificate.get()}).value();
  }
};

// A client that trusts the authority and asks for `asked`, a server that is `host`.
struct Ends {
  Ends(Loop& loop, OwnAuthority& authority, const std::string& host, const std::string& asked,
       const std::string& protocol = "h2")
      : server_context(authority.server_for(host)),
        client_context(make_client_context(to_pem(*authority.certificate)).value()) {
    auto pair = socket_pair();
    client = std::make_unique<TlsStream>(
        loop, std::make_unique<SocketStream>(loop, std::move(pair.a)),
        make_client(*client_context, asked, {"h2", "http/1.1"}).value());
    auto below = std::make_unique<SocketStream>(loop, std::move(pair.b));
    raw_server = below.get();
    server = std::make_unique<TlsStream>(loop, std::move(below),
                                         make_server(*server_context, protocol).value());
  }

  struct Statuses {
    Status client, server;
  };
  Statuses shake(Loop& loop, Task& task) {
    Statuses out;
    Event done(loop);
    loop.spawn([&](Task& other) {
      out.server = server->handshake(other);
      done.set();
    });
    out.client = client->handshake(task);
    done.wait_surely(task);
    return out;
  }

  SslContextPtr server_context, client_context;
  std::unique_ptr<TlsStream> client, server;
  SocketStream* raw_server = nullptr;
};

TEST(TlsStream, BothSidesMeetAndChooseAProtocol) {
  Loop loop;
  OwnAuthority authority;
  Ends ends(loop, authority, "a.example", "a.example");
  run_on(loop, [&](Task& task) {
    const auto statuses = ends.shake(loop, task);
    ASSERT_TRUE(statuses.client.ok()) << statuses.client.error().describe();
    ASSERT_TRUE(statuses.server.ok());
    EXPECT_EQ(ends.client->protocol(), "h2");
    EXPECT_EQ(ends.server->protocol(), "h2");
    loop.spawn([&](Task& other) {
      EXPECT_TRUE(ends.client->write(other, std::string(1 << 20, 'x')).ok());
    });
    EXPECT_EQ(read_text(task, *ends.server, 1 << 20).size(), 1u << 20);
  });
}

TEST(TlsStream, ReadingGoesOnWhileAWriterWaitsForItsPeer) {
  Loop loop;
  OwnAuthority authority;
  Ends ends(loop, authority, "a.example", "a.example");
  run_on(loop, [&](Task& task) {
    ASSERT_TRUE(ends.shake(loop, task).server.ok());
    Event written(loop);
    loop.spawn([&](Task& other) {
      EXPECT_TRUE(ends.client->write(other, std::string(8 << 20, 'x')).ok());
      written.set();
    });
    task.sleep(std::chrono::milliseconds(50));
    ASSERT_FALSE(written.is_set()) << "the peer does not read";
    ASSERT_TRUE(ends.server->write(task, "hello").ok());
    Deadline deadline(loop, std::chrono::seconds(10), [&] { ends.raw_server->abort(); });
    EXPECT_EQ(read_text(task, *ends.client, 5), "hello");
    EXPECT_EQ(read_text(task, *ends.server, 8 << 20).size(), 8u << 20);
    written.wait_surely(task);
  });
}

TEST(TlsStream, AnAddressIsAHostToo) {
  Loop loop;
  OwnAuthority authority;
  Ends ends(loop, authority, "192.0.2.1", "192.0.2.1", "");
  run_on(loop, [&](Task& task) {
    EXPECT_TRUE(ends.shake(loop, task).client.ok());
    EXPECT_EQ(ends.client->protocol(), "");
  });
}

TEST(TlsStream, ACertificateOfAnotherHostIsRefused) {
  Loop loop;
  OwnAuthority authority;
  Ends ends(loop, authority, "b.example", "a.example");
  run_on(loop, [&](Task& task) {
    const auto statuses = ends.shake(loop, task);
    EXPECT_EQ(statuses.client.error().code(), Code::permission_denied);
    EXPECT_NE(statuses.client.error().message().find("ostname mismatch"), std::string::npos);
    EXPECT_FALSE(statuses.server.ok());
  });
}

TEST(TlsStream, AnAuthorityThatIsNotTrustedIsRefused) {
  Loop loop;
  OwnAuthority ours, theirs;
  Ends ends(loop, theirs, "a.example", "a.example");
  ends.client_context = make_client_context(to_pem(*ours.certificate)).value();
  auto pair = socket_pair();
  ends.client =
      std::make_unique<TlsStream>(loop, std::make_unique<SocketStream>(loop, std::move(pair.a)),
                                  make_client(*ends.client_context, "a.example", {}).value());
  ends.server =
      std::make_unique<TlsStream>(loop, std::make_unique<SocketStream>(loop, std::move(pair.b)),
                                  make_server(*ends.server_context, "").value());
  run_on(loop, [&](Task& task) {
    EXPECT_EQ(ends.shake(loop, task).client.error().code(), Code::permission_denied);
  });
}

TEST(TlsStream, ItsOwnEndIsAnEndAndACutIsAnError) {
  Loop loop;
  OwnAuthority authority;
  run_on(loop, [&](Task& task) {
    Ends ended(loop, authority, "a.example", "a.example");
    ASSERT_TRUE(ended.shake(loop, task).client.ok());
    ASSERT_TRUE(ended.server->end_writing(task).ok());
    char byte;
    EXPECT_EQ(ended.client->read(task, std::span(&byte, 1)).value(), 0u);
    EXPECT_TRUE(ended.client->write(task, "late").ok());
    EXPECT_EQ(read_text(task, *ended.server, 4), "late");
    Ends cut(loop, authority, "a.example", "a.example");
    ASSERT_TRUE(cut.shake(loop, task).client.ok());
    ASSERT_TRUE(cut.raw_server->end_writing(task).ok());
    EXPECT_FALSE(cut.client->read(task, std::span(&byte, 1)).ok());
  });
}

TEST(PrefixedStream, GivesItsPrefixFirst) {
  Loop loop;
  auto pair = socket_pair();
  SocketStream peer(loop, std::move(pair.b));
  PrefixedStream stream(std::make_unique<SocketStream>(loop, std::move(pair.a)), "hello ");
  run_on(loop, [&](Task& task) {
    EXPECT_TRUE(peer.write(task, "world").ok());
    EXPECT_EQ(read_text(task, stream, 11), "hello world");
  });
}

}  // namespace
}  // namespace paddock::net
