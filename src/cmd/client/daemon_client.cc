#include "cmd/client/daemon_client.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/strings.h"
#include "model/json.h"
#include "sys/files.h"

namespace paddock::cmd {
namespace {

constexpr size_t kMaxBody = 64u << 20;

Error no_daemon(const model::HostPath& home) {
  return Error(Code::unavailable, "no daemon works in " + printable(home.str()))
      .set_remedy("start it: paddock serve   (or point PADDOCK_HOME at the one that runs)");
}

// By the directory's descriptor: a path may be longer than an address of a socket can be.
Result<sys::SocketFd> connect_to(const model::HostPath& home) {
  auto directory = sys::open_dir((home / "run").str());
  if (!directory.ok()) {
    if (directory.error().code() == Code::not_found) return no_daemon(home);
    return std::move(directory).error();
  }
  struct sockaddr_un address {};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/paddock.sock", directory->get());
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  sys::SocketFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return Error::from_errno(errno, "making a socket");
  // SAFETY: the sockets API takes every address as a sockaddr.
  if (::connect(socket.get(), reinterpret_cast<struct sockaddr*>(&address), sizeof address) == 0) {
    return socket;
  }
  if (errno == ENOENT || errno == ECONNREFUSED) return no_daemon(home);
  return Error::from_errno(errno, "talking to the daemon");
}

Status send(const sys::SocketFd& socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno(errno, "talking to the daemon");
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return {};
}

// The daemon may have answered before it was all sent: then its answer says why.
Status send_file(const sys::SocketFd& socket, const DaemonCall::Request& request) {
  std::string piece(64u << 10, '\0');
  for (uint64_t left = request.file_size; left > 0;) {
    const ssize_t count =
        ::read(request.file, piece.data(), std::min<uint64_t>(piece.size(), left));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno(errno, "reading the file");
    if (count == 0) return Error(Code::conflict, "the file became shorter while it was sent");
    if (!send(socket, {piece.data(), static_cast<size_t>(count)}).ok()) return {};
    left -= static_cast<uint64_t>(count);
  }
  return {};
}

// Our own surface has the code; of the control plane's errors the status tells it.
Code code_of(int status, std::string_view name) {
  constexpr std::array kCodes{Code::invalid_argument,  Code::not_found,   Code::already_exists,
                              Code::permission_denied, Code::conflict,    Code::failed_precondition,
                              Code::unsupported,       Code::unavailable, Code::resource_exhausted,
                              Code::timed_out,         Code::data_corrupt};
  const auto found = std::ranges::find_if(kCodes, [&](Code code) {
    return name.empty() ? http_status(code) == status : to_string(code) == name;
  });
  return found == kCodes.end() ? Code::internal : *found;
}

Error error_of(int status, const std::string& body) {
  const auto parsed = model::parse_json(body);
  const Error unknown(Code::internal, fmt::format("the daemon answered {}", status));
  if (!parsed.ok() || !parsed->is_object()) return unknown;
  const boost::json::object& outer = parsed->get_object();
  const auto* inner = outer.if_contains("error");
  const boost::json::object& from =
      inner != nullptr && inner->is_object() ? inner->get_object() : outer;
  auto text = [&](std::string_view name) {
    const auto* value = from.if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
  };
  if (text("message").empty()) return unknown;
  Error error(code_of(status, text("code")), text("message"));
  if (!text("remedy").empty()) error.set_remedy(text("remedy"));
  return error;
}

}  // namespace

Result<DaemonCall> DaemonCall::start(const model::HostPath& home, const Request& request) {
  DaemonCall call(PD_TRY(connect_to(home)));
  const uint64_t length = request.file >= 0 ? request.file_size : request.body.size();
  const std::string head = fmt::format(
      "{} {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: "
      "{}\r\nContent-Length: {}\r\n\r\n",
      request.method, request.target, request.type, length);
  PD_TRY(send(call.socket_, head));
  PD_TRY(request.file >= 0 ? send_file(call.socket_, request) : send(call.socket_, request.body));
  return call;
}

Result<std::string> DaemonCall::read() {
  if (!ahead_.empty()) return std::exchange(ahead_, "");
  std::string piece(64u << 10, '\0');
  ssize_t count;
  do {
    count = ::recv(socket_.get(), piece.data(), piece.size(), 0);
  } while (count < 0 && errno == EINTR);
  if (count < 0) return Error::from_errno(errno, "talking to the daemon");
  if (count == 0) {
    const bool was_done = reply_.is_done();
    if (!was_done && !reply_.end().ok()) {
      return Error(Code::unavailable, "the daemon ended before its answer did");
    }
    return std::string();
  }
  return reply_.feed({piece.data(), static_cast<size_t>(count)});
}

Status DaemonCall::check() {
  while (!reply_.has_head()) ahead_ += PD_TRY(read());
  if (reply_.status() < 300) return {};
  const int status = reply_.status();
  return error_of(status, PD_TRY(read_all(kMaxBody)));
}

Result<std::string> DaemonCall::read_all(size_t limit) {
  std::string body;
  while (!is_done() || !ahead_.empty()) {
    body += PD_TRY(read());
    if (body.size() > limit) return Error(Code::resource_exhausted, "the answer is too long");
  }
  return body;
}

void DaemonCall::shut_down() {
  ::shutdown(socket_.get(), SHUT_RDWR);
}

Result<boost::json::object> call_daemon(const model::HostPath& home, const std::string& method,
                                        const std::string& target,
                                        const boost::json::object& body) {
  DaemonCall::Request request;
  request.method = method;
  request.target = target;
  if (method != "GET") request.body = model::json_text(body);
  DaemonCall call = PD_TRY(DaemonCall::start(home, request));
  PD_TRY(call.check());
  const std::string text = PD_TRY(call.read_all(kMaxBody));
  if (text.empty()) return boost::json::object();
  boost::json::value value = PD_TRY(model::parse_json(text));
  if (!value.is_object()) return Error(Code::data_corrupt, "the daemon's answer is no object");
  return std::move(value.get_object());
}

std::string url_encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace paddock::cmd
