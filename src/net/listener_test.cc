#include "net/listener.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <future>
#include <utility>

#include "sys/testing/temp_dir.h"

namespace paddock::net {
namespace {

sys::SocketFd connect_to(const std::string& path) {
  sys::SocketFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  struct sockaddr_un address {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  // SAFETY: the sockets API takes every address as a sockaddr.
  auto* generic = reinterpret_cast<struct sockaddr*>(&address);
  if (::connect(socket.get(), generic, sizeof address) != 0) return {};
  return socket;
}

// On the loop's thread, where it is used.
void let_go(Loop& loop, std::shared_ptr<Listener> listener) {
  std::promise<void> gone;
  loop.spawn([&](Task&) {
    listener.reset();
    gone.set_value();
  });
  gone.get_future().wait();
}

TEST(UnixListener, IsItsOwnersAloneAndTakesOverWhatADeadOneLeft) {
  sys::testing::TempDir dir;
  const std::string path = dir.path() + "/a.sock";
  for (int round = 0; round < 2; ++round) {
    Loop loop;
    std::shared_ptr<Listener> listener = Listener::open_unix(loop, path).value();
    struct stat st {};
    ASSERT_EQ(::stat(path.c_str(), &st), 0);
    EXPECT_TRUE(S_ISSOCK(st.st_mode));
    EXPECT_EQ(st.st_mode & 0777, 0600u);
    std::promise<bool> accepted;
    loop.spawn([&](Task& task) { accepted.set_value(listener->accept(task).ok()); });
    const sys::SocketFd client = connect_to(path);
    EXPECT_TRUE(client.is_open());
    EXPECT_TRUE(accepted.get_future().get());
    let_go(loop, std::move(listener));
    EXPECT_TRUE(sys::exists(path)) << "the next one has nothing to take over";
  }
}

TEST(UnixListener, ListensAtAPathLongerThanAnAddress) {
  sys::testing::TempDir dir;
  const std::string folder = dir.path() + "/" + std::string(100, 'a') + "/" + std::string(100, 'b');
  ASSERT_TRUE(sys::make_dirs(folder, 0700).ok());
  Loop loop;
  auto listener = Listener::open_unix(loop, folder + "/a.sock");
  ASSERT_TRUE(listener.ok());
  let_go(loop, std::move(*listener));
  EXPECT_FALSE(Listener::open_unix(loop, folder + "/" + std::string(120, 'c')).ok());
  EXPECT_FALSE(Listener::open_unix(loop, dir.path() + "/nowhere/a.sock").ok());
}

}  // namespace
}  // namespace paddock::net
