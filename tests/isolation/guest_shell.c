// Stands in for the agent in tests of isolation alone: runs what it is told by /bin/sh, without any
// capability, and sends back how it ended and what it printed.
//   request: u32 length, command      answer: u32 length, u8 exit status, output
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kStream = 3, kMaxOutput = 1 << 20 };

static char command[1 << 16];
static char output[kMaxOutput];

static int read_all(void* to, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t n = read(kStream, (char*)to + done, size - done);
    if (n <= 0) return 0;
    done += (size_t)n;
  }
  return 1;
}

static void write_all(const void* from, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t n = write(kStream, (const char*)from + done, size - done);
    if (n <= 0) exit(1);
    done += (size_t)n;
  }
}

static void drop_capabilities(void) {
  for (int capability = 0; prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; ++capability) {
  }
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  syscall(SYS_capset, &header, none);
}

static void run(void) {
  int ends[2];
  if (pipe(ends) != 0) exit(1);
  pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    close(ends[0]);
    close(ends[1]);
    close(kStream);
    char* environment[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL};
    char* argv[] = {"sh", "-c", command, NULL};
    execve("/bin/sh", argv, environment);
    _exit(127);
  }
  close(ends[1]);
  uint32_t size = 1;
  for (ssize_t n = 1; n > 0 && size < kMaxOutput; size += (uint32_t)n) {
    n = read(ends[0], output + size, kMaxOutput - size);
    if (n < 0) n = 0;
  }
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  output[0] = (char)(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  write_all(&size, sizeof size);
  write_all(output, size);
}

int main(void) {
  drop_capabilities();
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  uint32_t size = 0;
  while (read_all(&size, sizeof size) && size < sizeof command && read_all(command, size)) {
    command[size] = '\0';
    run();
  }
  return 0;
}
