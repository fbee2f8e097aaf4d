#include <stdio.h>

int main(void) {
  long long sum = 0, next;
  while (scanf("%lld", &next) == 1) sum += next;
  printf("%lld\n", sum);
}
