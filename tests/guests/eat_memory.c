// eat_memory MIB [memfd|pipes|sockets]   takes that much memory, page by page, and prints "ate
// MIB".
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { kMib = 1 << 20 };

static int memfd(long mib) {
  static char block[kMib];
  memset(block, 1, sizeof block);
  int fd = memfd_create("eat", 0);
  for (long i = 0; i < mib; i++)
    if (write(fd, block, sizeof block) != sizeof block) return 1;
  return 0;
}

static int pairs(long mib, int sockets) {  // fills the buffers of as many as it takes
  static char block[65536];
  memset(block, 1, sizeof block);
  long filled = 0;
  while (filled < mib * (long)kMib) {
    int ends[2];
    if (sockets ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends)) return 1;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    ssize_t put;
    while ((put = write(ends[1], block, sizeof block)) > 0) filled += put;
  }
  return 0;
}

int main(int argc, char** argv) {
  long mib = argc > 1 ? atol(argv[1]) : 64;
  const char* how = argc > 2 ? argv[2] : "heap";
  int failed = 0;
  if (strcmp(how, "memfd") == 0) {
    failed = memfd(mib);
  } else if (strcmp(how, "heap") != 0) {
    failed = pairs(mib, strcmp(how, "sockets") == 0);
  } else {
    char* block = malloc((size_t)mib * kMib);
    if (!block) failed = 1;
    for (long i = 0; block && i < mib * kMib; i += 4096) ((volatile char*)block)[i] = 1;
  }
  printf(failed ? "stopped\n" : "ate %ld\n", mib);
  return failed;
}
