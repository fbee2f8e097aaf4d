// foreign_abi int80|x32   opens an AF_ALG socket through a second system call ABI of the same
// kernel. Prints "ok", the errno name, or dies of the signal that a filter sends.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static long int80(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("int $0x80"
                   : "=a"(result)
                   : "a"(number), "b"(a), "c"(b), "d"(c)
                   : "memory", "r8", "r9", "r10", "r11");
  return result;
}

int main(int argc, char** argv) {
  long result;
  if (argc > 1 && strcmp(argv[1], "x32") == 0) {
    result = syscall(0x40000000 | SYS_socket, AF_ALG, SOCK_SEQPACKET, 0);
    if (result < 0) result = -errno;
  } else {
    result = int80(359 /* i386 socket */, AF_ALG, SOCK_SEQPACKET, 0);
  }
  puts(result < 0 ? strerrorname_np((int)-result) : "ok");
  return 0;
}
