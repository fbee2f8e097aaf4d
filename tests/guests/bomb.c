// bomb   a fork bomb that nobody waits for: every process forks for ever.
#include <unistd.h>

int main(void) {
  for (;;) (void)!fork();
}
