#include "egress/ssh/agent_door.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/strings.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/pipe.h"
#include "sys/unix_socket.h"

namespace paddock::egress::ssh {
namespace {

constexpr int64_t kPatienceUs = 5'000'000;  // to list keys: nobody has to confirm that

// It does not block.
Result<sys::SocketFd> connect_agent(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (!path.starts_with('/') || slash + 1 == path.size()) {
    return Error(Code::failed_precondition,
                 "SSH_AUTH_SOCK is no absolute path: " + printable(path));
  }
  const auto doing = "connecting to the ssh agent at " + printable(path);
  const sys::DirFd directory =
      PD_TRY_CTX(doing, sys::open_dir(slash == 0 ? "/" : path.substr(0, slash)));
  return PD_TRY_CTX(doing, sys::connect_unix(directory, path.substr(slash + 1)));
}

Result<std::string> read_message(net::Task& task, net::SocketStream& from, std::string& ahead) {
  std::array<char, 4096> buffer;
  while (true) {
    if (auto message = PD_TRY(take_agent_message(ahead))) return std::move(*message);
    const size_t count = PD_TRY(from.read(task, buffer));
    if (count == 0) return Error(Code::unavailable, "the ssh agent's connection ended");
    ahead.append(buffer.data(), count);
  }
}

// Blocking, until `until_us`.
Status wait_for(const sys::SocketFd& socket, short events, int64_t until_us) {
  const int64_t left_ms = (until_us - sys::monotonic_us()) / 1000;
  pollfd ready{socket.get(), events, 0};
  if (left_ms > 0 && ::poll(&ready, 1, static_cast<int>(left_ms)) > 0) return {};
  return Error(Code::unavailable, "the ssh agent does not answer");
}

}  // namespace

AgentDoor::AgentDoor(net::Loop& loop, sys::SocketFd agent, sys::SocketFd client, sys::Fd client_end,
                     AgentLeave leave)
    : agent_(loop, std::move(agent)),
      client_(loop, std::move(client)),
      client_end_(std::move(client_end)),
      leave_(std::move(leave)),
      served_(loop) {}

Result<std::unique_ptr<AgentDoor>> AgentDoor::open(net::Loop& loop, const std::string& socket,
                                                   AgentLeave leave) {
  sys::SocketFd agent = PD_TRY(connect_agent(socket));
  sys::SocketPair pair = PD_TRY(sys::make_socket_pair(SOCK_STREAM));
  std::unique_ptr<AgentDoor> door(new AgentDoor(loop, std::move(agent), std::move(pair.first),
                                                std::move(pair.second), std::move(leave)));
  loop.spawn([self = door.get()](net::Task& task) {
    (void)self->serve(task).ok();  // an end of either side
    self->client_.abort();
    self->served_.set();
  });
  return door;
}

void AgentDoor::close(net::Task& task) {
  agent_.abort();
  client_.abort();
  served_.wait_surely(task);
}

Status AgentDoor::serve(net::Task& task) {
  std::string asked, answered;
  while (true) {
    const std::string request = PD_TRY(read_message(task, client_, asked));
    if (!check_request(request, leave_).ok()) {
      PD_TRY(client_.write(task, encode_agent_message(failure_answer())));
      continue;
    }
    PD_TRY(agent_.write(task, encode_agent_message(request)));
    const std::string answer = PD_TRY(read_message(task, agent_, answered));
    const std::string narrowed = PD_TRY(narrow_answer(answer, leave_));
    PD_TRY(client_.write(task, encode_agent_message(narrowed)));
  }
}

Result<std::vector<AgentKey>> list_agent_keys(const std::string& path) {
  const int64_t until_us = sys::monotonic_us() + kPatienceUs;
  const sys::SocketFd socket = PD_TRY(connect_agent(path));
  const std::string request = encode_agent_message(list_request());
  if (::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size())) {
    return Error::from_errno(errno, "asking the ssh agent");
  }
  std::string ahead;
  std::array<char, 4096> buffer;
  while (true) {
    if (const auto answer = PD_TRY(take_agent_message(ahead))) return parse_keys(*answer);
    PD_TRY(wait_for(socket, POLLIN, until_us));
    const ssize_t n = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n <= 0) return Error(Code::unavailable, "the ssh agent closed the connection");
    ahead.append(buffer.data(), static_cast<size_t>(n));
  }
}

}  // namespace paddock::egress::ssh
