#include "net/socket_stream.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

#include "net/event.h"
#include "net/testing/on_loop.h"

namespace paddock::net {
namespace {

using namespace std::chrono_literals;
using testing::read_text;
using testing::run_on;
using testing::socket_pair;

// A listener on loopback; nothing accepts unless the test does.
struct Listener {
  Listener() : fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    // SAFETY: an IPv4 address.
    bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size);
    listen(fd.get(), 8);
    getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
  }
  sys::SocketFd accept_one() {
    return sys::SocketFd(accept4(fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }

  sys::SocketFd fd;
  uint16_t port = 0;
};

const model::IpAddress kLoopback = model::IpAddress::parse("127.0.0.1").value();

TEST(SocketStream, CarriesMoreThanTheSocketHolds) {
  Loop loop;
  auto pair = socket_pair();
  SocketStream a(loop, std::move(pair.a)), b(loop, std::move(pair.b));
  const std::string sent(3 << 20, 'x');
  loop.spawn([&](Task& task) {
    EXPECT_TRUE(a.write(task, sent).ok());
    EXPECT_TRUE(a.end_writing(task).ok());
  });
  EXPECT_EQ(run_on(loop, [&](Task& task) { return read_text(task, b, sent.size() + 1).size(); }),
            sent.size());
}

TEST(SocketStream, OneSideMayEndAndStillRead) {
  Loop loop;
  auto pair = socket_pair();
  SocketStream a(loop, std::move(pair.a)), b(loop, std::move(pair.b));
  const std::string got = run_on(loop, [&](Task& task) {
    EXPECT_TRUE(a.end_writing(task).ok());
    EXPECT_EQ(read_text(task, b, 1), "");
    EXPECT_TRUE(b.write(task, "late").ok());
    return read_text(task, a, 4);
  });
  EXPECT_EQ(got, "late");
}

TEST(SocketStream, AbortEndsTheWaitOfAnotherCoroutine) {
  Loop loop;
  auto pair = socket_pair();
  SocketStream a(loop, std::move(pair.a));
  loop.spawn([&](Task& task) {
    task.sleep(1ms);
    a.abort();
  });
  EXPECT_FALSE(run_on(loop, [&](Task& task) {
    char byte;
    return a.read(task, std::span(&byte, 1)).ok();
  }));
}

TEST(SocketStream, AbortOfTcpIsAReset) {
  Loop loop;
  Listener listener;
  run_on(loop, [&](Task& task) {
    auto stream = dial(task, kLoopback, listener.port, 1s).value();
    sys::SocketFd peer = listener.accept_one();
    stream->abort();
    char byte;
    EXPECT_EQ(recv(peer.get(), &byte, 1, 0), -1);
    EXPECT_EQ(errno, ECONNRESET);
  });
}

TEST(WaitEither, TellsWhichSideSpeaksFirstAndLosesNothing) {
  Loop loop;
  for (int speaker : {0, 1}) {
    auto left = socket_pair(), right = socket_pair();
    SocketStream a(loop, std::move(left.a)), b(loop, std::move(right.a));
    const int fd = speaker == 0 ? left.b.get() : right.b.get();
    run_on(loop, [&](Task& task) {
      loop.spawn([&](Task& other) {
        other.sleep(1ms);
        EXPECT_EQ(write(fd, "hi", 2), 2);
      });
      const auto first = wait_either(task, a, b);
      ASSERT_TRUE(first.ok());
      EXPECT_EQ(*first, speaker == 0 ? First::a : First::b);
      EXPECT_EQ(read_text(task, speaker == 0 ? a : b, 2), "hi");
      EXPECT_EQ(write(left.b.get(), "x", 1) + write(right.b.get(), "y", 1), 2);
      EXPECT_EQ(read_text(task, a, 1) + read_text(task, b, 1), "xy");
    });
  }
}

TEST(Dial, ARefusedConnectionNamesTheAddress) {
  Loop loop;
  const uint16_t port = Listener().port;  // closed again
  const Error error =
      run_on(loop, [&](Task& task) { return dial(task, kLoopback, port, 1s).error(); });
  EXPECT_EQ(error.errno_value(), ECONNREFUSED);
  EXPECT_NE(error.message().find("127.0.0.1:"), std::string::npos);
}

TEST(Dial, PatienceEnds) {
  Loop loop;
  Listener full;
  listen(full.fd.get(), 0);
  run_on(loop, [&](Task& task) {
    // The backlog of one is filled; the kernel then drops what asks.
    std::vector<std::unique_ptr<SocketStream>> kept;
    for (int i = 0; i < 4; ++i) {
      auto stream = dial(task, kLoopback, full.port, 50ms);
      if (!stream.ok()) {
        EXPECT_EQ(stream.error().code(), Code::timed_out);
        return;
      }
      kept.push_back(std::move(stream).value());
    }
    ADD_FAILURE() << "every connection was taken";
  });
}

}  // namespace
}  // namespace paddock::net
