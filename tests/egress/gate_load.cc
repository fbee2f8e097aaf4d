// Load for measuring the gate, in the clear: a server, and clients that print what they measured.
//
//   gate_load serve                      prints its port on 127.0.0.1; ends when stdin does
//   gate_load bulk ADDRESS PORT BYTES    the server sends so many: prints bytes per second
//   gate_load connect ADDRESS PORT N     connects, one byte there and back, N times: median
//   microseconds gate_load hold ADDRESS PORT N        N connections at once, one byte each; prints
//   "ready", ends with stdin
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

sockaddr_in address_of(const char* host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, host, &address.sin_addr);
  return address;
}

// "B<bytes>\n" asks for so many bytes; any other byte is sent back.
void serve_one(int fd) {
  std::string buffer(256 * 1024, 'x');
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  char first = 0;
  while (recv(fd, &first, 1, 0) == 1) {
    if (first != 'B') {
      send(fd, &first, 1, MSG_NOSIGNAL);
      continue;
    }
    std::string digits;
    for (char c = 0; recv(fd, &c, 1, 0) == 1 && c != '\n';) digits += c;
    long long left = std::atoll(digits.c_str());
    while (left > 0) {
      const ssize_t sent =
          send(fd, buffer.data(), std::min<size_t>(buffer.size(), left), MSG_NOSIGNAL);
      if (sent <= 0) break;
      left -= sent;
    }
  }
  close(fd);
}

int serve() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = address_of("127.0.0.1", 0);
  socklen_t size = sizeof address;
  // SAFETY: an IPv4 address.
  bind(listener, reinterpret_cast<sockaddr*>(&address), size);
  listen(listener, 4096);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  std::thread([listener] {
    while (true) {
      const int fd = accept(listener, nullptr, nullptr);
      if (fd >= 0) std::thread(serve_one, fd).detach();
    }
  }).detach();
  while (std::getchar() != EOF) {
  }
  std::_Exit(0);
}

int connect_to(const char* host, int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = address_of(host, port);
  // SAFETY: an IPv4 address.
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    std::perror("connect");
    std::exit(1);
  }
  return fd;
}

// A byte that begins neither TLS nor HTTP: the gate passes it at once.
bool ping(int fd) {
  char byte = '\x01';
  return send(fd, &byte, 1, MSG_NOSIGNAL) == 1 && recv(fd, &byte, 1, 0) == 1;
}

int bulk(const char* host, int port, long long bytes) {
  const int fd = connect_to(host, port);
  if (!ping(fd)) return 1;
  const auto begin = Clock::now();
  const std::string ask = "B" + std::to_string(bytes) + "\n";
  send(fd, ask.data(), ask.size(), MSG_NOSIGNAL);
  std::string buffer(256 * 1024, '\0');
  for (long long got = 0; got < bytes;) {
    const ssize_t count = recv(fd, buffer.data(), buffer.size(), 0);
    if (count <= 0) return 1;
    got += count;
  }
  const std::chrono::duration<double> took = Clock::now() - begin;
  std::printf("%.0f\n", static_cast<double>(bytes) / took.count());
  return 0;
}

int connects(const char* host, int port, int count) {
  std::vector<double> micros;
  for (int i = 0; i < count; ++i) {
    const auto begin = Clock::now();
    const int fd = connect_to(host, port);
    if (!ping(fd)) return 1;
    micros.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    close(fd);
  }
  std::sort(micros.begin(), micros.end());
  std::printf("%.1f\n", micros[micros.size() / 2]);
  return 0;
}

int hold(const char* host, int port, int count) {
  std::vector<int> fds;
  for (int i = 0; i < count; ++i) fds.push_back(connect_to(host, port));
  for (int fd : fds) {
    if (!ping(fd)) return 1;
  }
  std::printf("ready\n");
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "serve") return serve();
  if (argc < 5) return 2;
  const int port = std::atoi(argv[3]);
  if (mode == "bulk") return bulk(argv[2], port, std::atoll(argv[4]));
  if (mode == "connect") return connects(argv[2], port, std::atoi(argv[4]));
  if (mode == "hold") return hold(argv[2], port, std::atoi(argv[4]));
  return 2;
}
