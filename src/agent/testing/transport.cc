#include "agent/testing/transport.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>

namespace paddock::agent::testing {

void add_test_filter(wire::Setup& setup) {
  const sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sethostname, 0, 1),
                                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
                                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
                                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  // SAFETY: the program's bytes.
  setup.set_seccomp_filter(reinterpret_cast<const char*>(filter), sizeof filter);
  wire::ReportedSyscall& reported = *setup.add_reported_syscalls();
  reported.set_number(SYS_sethostname);
  reported.set_name("sethostname");
  reported.set_error(ENOTRECOVERABLE);
}

}  // namespace paddock::agent::testing
