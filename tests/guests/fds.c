// fds   prints every open descriptor and what it is, but 0, 1, 2 and the one that reads the list.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
  DIR* list = opendir("/proc/self/fd");
  struct dirent* entry;
  while (list && (entry = readdir(list))) {
    int fd = atoi(entry->d_name);
    if (entry->d_name[0] == '.' || fd <= 2 || fd == dirfd(list)) continue;
    char path[64], target[512];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(path, target, sizeof target - 1);
    target[length < 0 ? 0 : length] = 0;
    printf("%d %s\n", fd, target);
  }
  return 0;
}
