// escape_tree SECONDS   leaves its process group, session and parent behind (setsid, two forks, all
// signals ignored), keeps stdout open, and lives for SECONDS. The first process returns at once.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  unsigned seconds = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;
  if (fork() != 0) return 0;
  setsid();
  if (fork() != 0) _exit(0);
  for (int signal_number = 1; signal_number < 65; signal_number++) signal(signal_number, SIG_IGN);
  while (seconds) seconds = sleep(seconds);
  return 0;
}
