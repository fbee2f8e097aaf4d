#include <signal.h>
#include <unistd.h>

int main(void) {
  kill(getppid(), SIGKILL);
  kill(1, SIGKILL);
  kill(-1, SIGKILL);
  return 1;
}
