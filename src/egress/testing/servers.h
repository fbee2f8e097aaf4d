// Servers on loopback for tests, each in a thread of its own, one connection at a time.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "net/tls_context.h"
#include "sys/fd.h"

namespace paddock::egress::testing {

// Blocking reads and writes, in the clear or by TLS.
class Peer {
 public:
  Peer(sys::SocketFd socket, SSL_CTX* context, const std::string& protocol)
      : socket_(std::move(socket)) {
    if (context == nullptr) return;
    ssl_ = net::make_server(*context, protocol).value();
    SSL_set_fd(ssl_.get(), socket_.get());
    if (SSL_accept(ssl_.get()) != 1) failed_ = true;
  }

  // Empty at the end, or when broken.
  std::string read_some() {
    if (failed_) return {};
    char buffer[65536];
    const ssize_t count = ssl_ != nullptr ? SSL_read(ssl_.get(), buffer, sizeof buffer)
                                          : recv(socket_.get(), buffer, sizeof buffer, 0);
    return count > 0 ? std::string(buffer, static_cast<size_t>(count)) : std::string();
  }
  // Up to and with the text; what came behind it stays for the next call.
  std::string read_until(const std::string& text) {
    while (pending_.find(text) == std::string::npos) {
      const std::string more = read_some();
      if (more.empty()) return std::exchange(pending_, {});
      pending_ += more;
    }
    const size_t end = pending_.find(text) + text.size();
    std::string out = pending_.substr(0, end);
    pending_.erase(0, end);
    return out;
  }
  std::string read_count(size_t count) {
    while (pending_.size() < count) {
      const std::string more = read_some();
      if (more.empty()) break;
      pending_ += more;
    }
    std::string out = pending_.substr(0, count);
    pending_.erase(0, out.size());
    return out;
  }
  std::string read_all() {
    std::string out = std::exchange(pending_, {});
    for (std::string more = read_some(); !more.empty(); more = read_some()) out += more;
    return out;
  }
  bool write(const std::string& bytes) {
    if (failed_) return false;
    size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t count =
          ssl_ != nullptr
              ? SSL_write(ssl_.get(), bytes.data() + done, static_cast<int>(bytes.size() - done))
              : send(socket_.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
      if (count <= 0) return false;
      done += static_cast<size_t>(count);
    }
    return true;
  }
  void end_writing() {
    if (ssl_ != nullptr) SSL_shutdown(ssl_.get());
    shutdown(socket_.get(), SHUT_WR);
  }
  bool failed() const { return failed_; }
  SSL* ssl() const { return ssl_.get(); }

 private:
  sys::SocketFd socket_;
  net::SslPtr ssl_;
  std::string pending_;
  bool failed_ = false;
};

struct ServerOptions {
  std::function<void(Peer&)> serve;
  SSL_CTX* context = nullptr;  // nullptr: in the clear
  std::string protocol{};      // ALPN
};

class Server {
 public:
  explicit Server(ServerOptions options)
      : options_(std::move(options)), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    // SAFETY: an IPv4 address.
    bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size);
    listen(listener_.get(), 64);
    getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~Server() {
    stopping_ = true;
    shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }

  uint16_t port() const { return port_; }
  int connections() const { return connections_; }

 private:
  void run() {
    while (!stopping_) {
      sys::SocketFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!socket.is_open()) continue;
      ++connections_;
      Peer peer(std::move(socket), options_.context, options_.protocol);
      options_.serve(peer);
    }
  }

  ServerOptions options_;
  sys::SocketFd listener_;
  uint16_t port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<int> connections_{0};
  std::thread thread_;
};

}  // namespace paddock::egress::testing
