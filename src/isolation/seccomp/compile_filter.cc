// Compiles the table into a BPF program and prints it as initialisers of struct sock_filter. Runs
// when Paddock is built: libseccomp at run time would cost every start 0.5 ms.
#include <linux/bpf_common.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "isolation/seccomp/table.h"

namespace {

using namespace paddock::isolation::seccomp;

void require(int result, const char* doing) {
  if (result >= 0) return;
  std::fprintf(stderr, "compile_filter: %s: error %d\n", doing, -result);
  std::exit(1);
}

scmp_arg_cmp comparison(const Condition& condition) {
  switch (condition.is) {
    case Condition::Is::equal_under_mask:
      return {condition.argument, SCMP_CMP_MASKED_EQ, condition.mask, condition.value};
    case Condition::Is::different:
      return {condition.argument, SCMP_CMP_NE, condition.value, 0};
    case Condition::Is::greater:
      return {condition.argument, SCMP_CMP_GT, condition.value, 0};
  }
  std::abort();
}

void add(scmp_filter_ctx context, const Row& row) {
  std::vector<scmp_arg_cmp> comparisons;
  for (const Condition& condition : row.conditions) comparisons.push_back(comparison(condition));
  uint32_t action = row.action == Action::refuse_and_report
                        ? SCMP_ACT_NOTIFY
                        : SCMP_ACT_ERRNO(static_cast<unsigned>(row.error));
  require(seccomp_rule_add_array(context, action, row.number,
                                 static_cast<unsigned>(comparisons.size()), comparisons.data()),
          row.name);
}

std::vector<sock_filter> compile() {
  // What the running kernel knows does not matter: it is not the one that will load the filter.
  require(seccomp_api_set(6), "setting the API level");
  scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
  if (context == nullptr) require(-ENOMEM, "making a filter");
  require(seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "other ABIs");
  require(seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2), "choosing the binary tree");
  for (const Row& row : table()) add(context, row);
  std::FILE* file = std::tmpfile();
  if (file == nullptr) require(-errno, "opening a temporary file");
  require(seccomp_export_bpf(context, fileno(file)), "compiling");
  std::rewind(file);
  std::vector<sock_filter> program;
  sock_filter instruction{};
  while (std::fread(&instruction, sizeof instruction, 1, file) == 1) program.push_back(instruction);
  std::fclose(file);
  seccomp_release(context);
  return program;
}

// libseccomp has no comparison on the number itself.
std::vector<sock_filter> refuse_newer() {
  return {{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
          {BPF_JMP | BPF_JGT | BPF_K, 0, 1, kNewestConsidered},
          {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOSYS}};
}

void print(const std::vector<sock_filter>& program) {
  for (const sock_filter& i : program) {
    std::printf("{0x%02x, %u, %u, 0x%08x},\n", i.code, i.jt, i.jf, i.k);
  }
}

}  // namespace

int main() {
  print(refuse_newer());
  print(compile());
  return 0;
}
