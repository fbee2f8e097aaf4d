// forks N   tries to have N children alive at once; prints how many it got and, when stopped, why.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int wanted = argc > 1 ? atoi(argv[1]) : 100;
  pid_t* children = calloc((size_t)wanted, sizeof *children);
  int made = 0;
  const char* why = "ok";
  for (; made < wanted; made++) {
    pid_t child = fork();
    if (child == 0) {
      pause();
      _exit(0);
    }
    if (child < 0) {
      why = strerrorname_np(errno);
      break;
    }
    children[made] = child;
  }
  printf("%d %s\n", made, why);
  for (int i = 0; i < made; i++) kill(children[i], SIGKILL);
  for (int i = 0; i < made; i++) waitpid(children[i], NULL, 0);
  return 0;
}
