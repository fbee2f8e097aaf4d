// reach tcp|udp|tcp6|udp6 ADDRESS PORT | unix PATH | abstract NAME   connects (udp: sends one byte)
// and prints "ok" or the errno name, and the milliseconds that it took.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int reach_unix(const char* name, int abstract) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path + abstract, name, sizeof address.sun_path - 2);
  socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name) + 1);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  return fd < 0 ? -1 : connect(fd, (struct sockaddr*)&address, length);
}

static int reach_inet(const char* how, const char* text, int port) {
  struct sockaddr_storage storage = {0};
  int six = strchr(how, '6') != NULL;
  int type = strncmp(how, "udp", 3) == 0 ? SOCK_DGRAM : SOCK_STREAM;
  struct sockaddr_in* four_address = (struct sockaddr_in*)&storage;
  struct sockaddr_in6* six_address = (struct sockaddr_in6*)&storage;
  storage.ss_family = six ? AF_INET6 : AF_INET;
  void* raw = six ? (void*)&six_address->sin6_addr : (void*)&four_address->sin_addr;
  if (inet_pton(storage.ss_family, text, raw) != 1) {
    errno = EINVAL;
    return -1;
  }
  four_address->sin_port = htons((unsigned short)port);  // at the same place in both
  int fd = socket(storage.ss_family, type, 0);
  if (fd < 0) return -1;
  socklen_t length = six ? sizeof *six_address : sizeof *four_address;
  if (type == SOCK_DGRAM)
    return sendto(fd, "x", 1, 0, (struct sockaddr*)&storage, length) == 1 ? 0 : -1;
  return connect(fd, (struct sockaddr*)&storage, length);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  int result;
  if (strcmp(argv[1], "unix") == 0 || strcmp(argv[1], "abstract") == 0)
    result = reach_unix(argv[2], argv[1][0] == 'a');
  else
    result = reach_inet(argv[1], argv[2], argc > 3 ? atoi(argv[3]) : 80);
  int error = errno;
  clock_gettime(CLOCK_MONOTONIC, &end);
  long took = (end.tv_sec - start.tv_sec) * 1000 + (end.tv_nsec - start.tv_nsec) / 1000000;
  printf("%s %ld\n", result < 0 ? strerrorname_np(error) : "ok", took);
  return 0;
}
