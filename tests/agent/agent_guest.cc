// What runs inside in the agent's conformance tests: one behaviour per first argument. Static,
// needs nothing of the root file system.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

void sleep_ms(long ms) {
  const timespec time{.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1'000'000};
  ::nanosleep(&time, nullptr);
}

// Byte `at` of the endless pattern that `fill` writes and `check` expects.
char pattern(size_t at) {
  return static_cast<char>((at * 2654435761u) >> 16);
}

bool write_all(const char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t n = ::write(STDOUT_FILENO, bytes, count);
    if (n <= 0) return false;
    bytes += n;
    count -= static_cast<size_t>(n);
  }
  return true;
}

int fill(size_t count) {
  std::vector<char> block(1 << 16);
  for (size_t at = 0; at < count;) {
    const size_t now = std::min(block.size(), count - at);
    for (size_t i = 0; i < now; ++i) block[i] = pattern(at + i);
    if (!write_all(block.data(), now)) return 1;
    at += now;
  }
  return 0;
}

// Reads standard input to its end; prints how much of the pattern came.
int check() {
  std::vector<char> block(1 << 16);
  size_t at = 0;
  while (true) {
    const ssize_t n = ::read(STDIN_FILENO, block.data(), block.size());
    if (n <= 0) break;
    for (ssize_t i = 0; i < n; ++i, ++at) {
      if (block[static_cast<size_t>(i)] != pattern(at)) {
        std::printf("wrong at %zu\n", at);
        return 1;
      }
    }
  }
  std::printf("%zu\n", at);
  return 0;
}

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;  // 0: the text is no address

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

Address address_of(const char* host, const char* port) {
  Address address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  const auto number = htons(static_cast<uint16_t>(std::atoi(port)));
  if (::inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = number;
    address.size = sizeof *v4;
  } else if (::inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = number;
    address.size = sizeof *v6;
  }
  return address;
}

int connect_to(int type, const char* host, const char* port) {
  const Address address = address_of(host, port);
  if (address.size == 0) return 2;
  const int fd = ::socket(address.storage.ss_family, type, 0);
  const bool failed = type == SOCK_STREAM
                          ? ::connect(fd, address.get(), address.size) != 0
                          : ::sendto(fd, "x", 1, 0, address.get(), address.size) != 1;
  std::printf("%s\n", failed ? std::strerror(errno) : "sent");
  return failed ? 1 : 0;
}

int open_connection(const char* host, const char* port, const char* from = nullptr) {
  const Address address = address_of(host, port);
  const int fd = ::socket(address.storage.ss_family, SOCK_STREAM, 0);
  if (from != nullptr) {
    sockaddr_in local{};
    local.sin_family = AF_INET;
    ::inet_pton(AF_INET, from, &local.sin_addr);
    if (::bind(fd, reinterpret_cast<const sockaddr*>(&local), sizeof local) != 0) return -1;
  }
  if (::connect(fd, address.get(), address.size) == 0) return fd;
  std::printf("%s\n", std::strerror(errno));
  return -1;
}

// Prints what comes, to the end.
int listen_to(int fd) {
  char block[4096];
  ssize_t n;
  while ((n = ::recv(fd, block, sizeof block, 0)) > 0) write_all(block, static_cast<size_t>(n));
  std::printf("%s\n", n < 0 ? std::strerror(errno) : "");
  return n < 0 ? 1 : 0;
}

// Says `text`, closes its writing side and prints the answer.
int talk(const char* host, const char* port, const char* text, const char* from = nullptr) {
  const int fd = open_connection(host, port, from);
  if (fd < 0) return 1;
  ::signal(SIGPIPE, SIG_IGN);
  // A reset that comes this early is told once, to whoever calls first.
  if (::write(fd, text, std::strlen(text)) < 0 && errno == ECONNRESET) {
    std::puts(std::strerror(ECONNRESET));
    return 1;
  }
  ::shutdown(fd, SHUT_WR);
  return listen_to(fd);
}

int break_off(const char* host, const char* port) {
  const int fd = open_connection(host, port);
  if (fd < 0) return 1;
  (void)!::write(fd, "x", 1);
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  sleep_ms(100);
  ::close(fd);
  return 0;
}

// Writes the pattern and reads it back at the same time; prints how much came.
int pour(const char* host, const char* port, size_t count) {
  const int fd = open_connection(host, port);
  if (fd < 0) return 1;
  const pid_t writer = ::fork();
  if (writer == 0) {
    ::dup2(fd, STDOUT_FILENO);
    const int failed = fill(count);
    ::shutdown(fd, SHUT_WR);
    ::_exit(failed);
  }
  ::dup2(fd, STDIN_FILENO);
  return check();
}

// Holds that many connections at once and counts those that are reset.
int crowd(const char* host, const char* port, int count) {
  std::vector<int> all;
  for (int i = 0; i < count; ++i) all.push_back(open_connection(host, port));
  std::printf("connected\n");
  int reset = 0;
  for (int fd : all) {
    char byte;
    if (::recv(fd, &byte, 1, 0) < 0) ++reset;
  }
  std::printf("%d reset\n", reset);
  return 0;
}

// A query by hand: the C library has its own ideas about files in /etc.
int look_up(const char* name, int type, char record = 1, bool show = false) {
  std::string query("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00", 12);
  for (const char* label = name; *label != '\0';) {
    const size_t length = std::strcspn(label, ".");
    query += static_cast<char>(length);
    query.append(label, length);
    label += length + (label[length] == '.' ? 1 : 0);
  }
  query += std::string("\0\0", 2) + record + std::string("\0\1", 2);
  if (type == SOCK_STREAM) {
    query.insert(0, std::string{static_cast<char>(query.size() >> 8),
                                static_cast<char>(query.size() & 0xff)});
  }
  sockaddr_in server{};
  server.sin_family = AF_INET;
  server.sin_port = htons(53);
  server.sin_addr.s_addr = htonl(0x7f000035);
  const int fd = ::socket(AF_INET, type, 0);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&server), sizeof server) != 0) return 3;
  if (::send(fd, query.data(), query.size(), 0) < 0) return 4;
  char answer[600];
  const ssize_t n = ::recv(fd, answer, sizeof answer, 0);
  ::close(fd);
  const int at = type == SOCK_STREAM ? 5 : 3;
  if (n <= at) return 5;
  std::printf("rcode %d", answer[at] & 0xf);
  const int bytes = record == 1 ? 4 : 16;
  if (show && answer[7] > 0 && n > bytes) {
    char text[INET6_ADDRSTRLEN] = "";
    ::inet_ntop(record == 1 ? AF_INET : AF_INET6, answer + n - bytes, text, sizeof text);
    std::printf(" %s", text);
  }
  std::printf("\n");
  return 0;
}

// Children whose parent is gone at once, so that somebody else must adopt and reap them.
int orphans(int count) {
  for (int i = 0; i < count; ++i) {
    const pid_t child = ::fork();
    if (child < 0) return 1;
    if (child == 0) {
      if (::fork() == 0) ::_exit(0);
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
  }
  return 0;
}

// A grandchild in a session of its own, with nobody above it, that writes and stays.
int escape(const char* text) {
  if (::fork() == 0) {
    ::setsid();
    if (::fork() == 0) {
      for (int fd = 0; fd < 3; ++fd) ::close(fd);
      ::signal(SIGTERM, SIG_IGN);
      ::signal(SIGHUP, SIG_IGN);
      ::prctl(PR_SET_NAME, text, 0, 0, 0);
      sleep_ms(1'000'000);
    }
    ::_exit(0);
  }
  ::wait(nullptr);
  return 0;
}

// Writes for as long as it can.
int chatter(const char* name) {
  ::prctl(PR_SET_NAME, name, 0, 0, 0);
  while (write_all("tick\n", 5)) sleep_ms(10);
  return 1;
}

int signal_parent(int number) {
  if (::kill(::getppid(), number) != 0) {
    std::printf("%s\n", std::strerror(errno));
    return 1;
  }
  sleep_ms(1'000'000);
  return 0;
}

int refused_calls(int count) {
  int error = 0;
  for (int i = 0; i < count; ++i) {
    errno = 0;
    if (::sethostname("x", 1) != 0) error = errno;
  }
  std::printf("%d\n", error);
  return 0;
}

int refused_sends(int count) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(9);
  const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
  for (int i = 0; i < count; ++i) {
    to.sin_addr.s_addr = htonl(0xc6336400u + static_cast<uint32_t>(i) % 256);
    ::sendto(fd, "x", 1, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  }
  return 0;
}

int refused_names(int count) {
  for (int i = 0; i < count; ++i) look_up(("n" + std::to_string(i)).c_str(), SOCK_DGRAM);
  return 0;
}

int echo_with_gap(const std::string& text, size_t at) {
  write_all(text.data(), at);
  sleep_ms(20);
  write_all(text.data() + at, text.size() - at);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> all(argv, argv + argc);
  auto is = [&](std::string_view name, int arguments) {
    return argc == 2 + arguments && all[1] == name;
  };
  ::setvbuf(stdout, nullptr, _IOLBF, 4096);
  if (is("exit", 1)) return std::atoi(argv[2]);
  if (is("fill", 1)) return fill(std::strtoull(argv[2], nullptr, 10));
  if (is("check", 0)) return check();
  if (is("tcp", 2)) return connect_to(SOCK_STREAM, argv[2], argv[3]);
  if (is("udp", 2)) return connect_to(SOCK_DGRAM, argv[2], argv[3]);
  if (is("lookup", 1)) return look_up(argv[2], SOCK_DGRAM);
  if (is("lookup-tcp", 1)) return look_up(argv[2], SOCK_STREAM);
  if (is("resolve", 2)) {
    return look_up(argv[2], SOCK_DGRAM, static_cast<char>(std::atoi(argv[3])), true);
  }
  if (is("talk", 3)) return talk(argv[2], argv[3], argv[4]);
  if (is("talk-from", 3)) return talk(argv[3], argv[4], "x", argv[2]);
  if (is("proxy", 1)) return talk("127.0.0.53", "54", argv[2]);
  if (is("break", 2)) return break_off(argv[2], argv[3]);
  if (is("pour", 3)) return pour(argv[2], argv[3], std::strtoull(argv[4], nullptr, 10));
  if (is("crowd", 3)) return crowd(argv[2], argv[3], std::atoi(argv[4]));
  if (is("orphans", 1)) return orphans(std::atoi(argv[2]));
  if (is("escape", 1)) return escape(argv[2]);
  if (is("chatter", 1)) return chatter(argv[2]);
  if (is("signal-parent", 1)) return signal_parent(std::atoi(argv[2]));
  if (is("refused-calls", 1)) return refused_calls(std::atoi(argv[2]));
  if (is("refused-sends", 1)) return refused_sends(std::atoi(argv[2]));
  if (is("refused-names", 1)) return refused_names(std::atoi(argv[2]));
  if (is("gap", 2)) return echo_with_gap(argv[2], std::strtoull(argv[3], nullptr, 10));
  std::fprintf(stderr, "agent-guest: no such behaviour\n");
  return 64;
}
