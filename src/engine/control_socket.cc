#include "engine/control_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "sys/clock.h"
#include "sys/files.h"
#include "sys/unix_socket.h"

namespace paddock::engine {
namespace {

constexpr const char* kName = "control";
constexpr int kRequestPatienceMs = 1000;
// For the answer: the rules are compiled and set meanwhile.
constexpr int kAnswerMs = 10'000;
constexpr int kPauseMs = 50;

// A line, without its end; what is longer or late is an error.
Result<std::string> read_line(const sys::SocketFd& socket, int patience_ms) {
  const int64_t until = sys::monotonic_us() + int64_t{patience_ms} * 1000;
  std::string line;
  while (line.size() <= kMaxChangeBytes) {
    const int64_t left_ms = (until - sys::monotonic_us()) / 1000;
    pollfd ready{socket.get(), POLLIN, 0};
    if (left_ms <= 0 || ::poll(&ready, 1, static_cast<int>(left_ms)) == 0) {
      return Error(Code::timed_out, "the other side says nothing");
    }
    std::array<char, 512> buffer;
    const ssize_t n = ::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n <= 0) return Error(Code::unavailable, "the other side has closed the connection");
    line.append(buffer.data(), static_cast<size_t>(n));
    if (const size_t end = line.find('\n'); end != std::string::npos) return line.substr(0, end);
  }
  return Error(Code::data_corrupt, "a line that is too long");
}

// Far less than a socket's buffer: it is taken at once or not at all.
Status send_line(const sys::SocketFd& socket, const std::string& line) {
  const std::string text = line + "\n";
  const ssize_t n = ::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n == static_cast<ssize_t>(text.size())) return {};
  return Error::from_errno(n < 0 ? errno : EAGAIN, "writing to the other side");
}

bool is_own_user(const sys::SocketFd& socket) {
  const auto peer = sys::peer_credentials(socket);
  return peer.ok() && (peer->uid == ::geteuid() || peer->uid == 0);
}

}  // namespace

Result<std::unique_ptr<ControlSocket>> ControlSocket::open(const model::HostPath& directory,
                                                           Handler handler) {
  const sys::DirFd dir = PD_TRY(sys::open_dir(directory.str()));
  sys::SocketFd listener = PD_TRY(sys::listen_unix(dir, kName));
  sys::Fd stop(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop.is_open()) return Error::from_errno(errno, "making an eventfd");
  return std::unique_ptr<ControlSocket>(
      new ControlSocket(std::move(listener), std::move(stop), std::move(handler)));
}

ControlSocket::ControlSocket(sys::SocketFd listener, sys::Fd stop, Handler handler)
    : listener_(std::move(listener)), stop_(std::move(stop)), handler_(std::move(handler)) {
  // Signals are for the thread that runs the command.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::thread([this] { serve(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ControlSocket::~ControlSocket() {
  const uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

void ControlSocket::serve() {
  while (true) {
    std::array<pollfd, 2> ready{pollfd{listener_.get(), POLLIN, 0}, pollfd{stop_.get(), POLLIN, 0}};
    if (::poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) return;
    if (ready[1].revents != 0) return;
    if (ready[0].revents == 0) continue;
    const sys::SocketFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (client.is_open()) {
      answer(client);
    } else {  // no descriptor is left, say: whoever asks is still there, and there is time
      (void)::poll(&ready[1], 1, kPauseMs);
    }
  }
}

void ControlSocket::answer(const sys::SocketFd& client) const {
  if (!is_own_user(client)) return;
  const auto line = read_line(client, kRequestPatienceMs);
  if (!line.ok()) return;
  const auto request = parse_change_request(*line);
  const auto answer = request.ok() ? handler_(*request) : Result<std::string>(request.error());
  (void)send_line(client, encode_answer(answer)).ok();
}

bool has_control(const model::HostPath& directory) {
  return sys::lstat_path((directory / kName).str()).ok();
}

Result<std::string> ask_control(const model::HostPath& directory, const ChangeRequest& request) {
  const sys::DirFd dir = PD_TRY(sys::open_dir(directory.str()));
  const sys::SocketFd socket = PD_TRY(sys::connect_unix(dir, kName));
  PD_TRY(send_line(socket, encode(request)));
  return parse_answer(PD_TRY(read_line(socket, kAnswerMs)));
}

}  // namespace paddock::engine
