// probe NAME…   makes each named call once and prints "NAME: ok" or "NAME: <errno>".
// Harmless to the host even as root with nothing in the way: a call that is allowed opens a
// descriptor, changes a child alone, or fails on its arguments, with another errno than a filter's.
// No call here may change a mount, a device or a clock.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long in_child(int (*attempt)(void)) {  // for calls that would change this process
  int report[2];
  if (pipe(report) != 0) return -1;
  pid_t child = fork();
  if (child == 0) {
    int error = attempt() < 0 ? errno : 0;
    _exit(write(report[1], &error, sizeof error) != sizeof error);
  }
  close(report[1]);
  int error = EIO;
  if (read(report[0], &error, sizeof error) != sizeof error) error = EIO;
  close(report[0]);
  waitpid(child, NULL, 0);
  errno = error;
  return error ? -1 : 0;
}

static int do_unshare_user(void) {
  return unshare(CLONE_NEWUSER);
}
static int do_unshare_net(void) {
  return unshare(CLONE_NEWUSER | CLONE_NEWNET);
}
static int do_unshare_mount(void) {
  return unshare(CLONE_NEWNS);
}
static int do_setns(void) {
  int fd = open("/proc/self/ns/user", O_RDONLY);
  return fd < 0 ? -1 : setns(fd, 0);
}
static int do_mount(void) {
  return mount("tmpfs", "/nonexistent", "tmpfs", 0, NULL);
}
static int do_chroot(void) {
  return chroot("/");
}
static int do_setuid(void) {
  return setuid(0);
}
static int do_personality(void) {
  return (int)syscall(SYS_personality, 0x0400000 /* READ_IMPLIES_EXEC */);
}

static long do_clone_user(void) {
  long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) _exit(0);
  if (child > 0) waitpid((pid_t)child, NULL, 0);
  return child;
}
static long do_clone3(void) {
  uint64_t args[8] = {0, 0, 0, 0, SIGCHLD};
  long child = syscall(SYS_clone3, args, sizeof args);
  if (child == 0) _exit(0);
  if (child > 0) waitpid((pid_t)child, NULL, 0);
  return child;
}
static long do_ptrace(void) {
  pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  long result = ptrace(PTRACE_SEIZE, child, 0, 0);
  int error = errno;
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  errno = error;
  return result;
}
static long do_io_uring(void) {
  char params[120] = {0};
  return syscall(SYS_io_uring_setup, 2, params);
}
static long do_bpf(void) {
  char attr[120] = {0};
  *(uint32_t*)attr = 2;        // BPF_MAP_TYPE_ARRAY
  *(uint32_t*)(attr + 4) = 4;  // key size
  *(uint32_t*)(attr + 8) = 4;
  *(uint32_t*)(attr + 12) = 1;
  return syscall(SYS_bpf, 0 /* MAP_CREATE */, attr, sizeof attr);
}
static long do_perf(void) {
  char attr[112] = {0};
  *(uint32_t*)attr = 1;  // PERF_TYPE_SOFTWARE
  *(uint32_t*)(attr + 4) = sizeof attr;
  return syscall(SYS_perf_event_open, attr, 0, -1, -1, 0);
}
static long do_tiocsti(void) {
  int fd = open("/dev/tty", O_RDWR);
  return fd < 0 ? -1 : ioctl(fd, TIOCSTI, "x");
}

static long family(int domain, int type, int protocol) {
  int fd = socket(domain, type, protocol);
  if (fd >= 0) close(fd);
  return fd;
}

#define RAW(label, ...) \
  { #label, NULL, NULL, {__VA_ARGS__ }, kRaw }
#define FAMILY(label, ...) \
  { #label, NULL, NULL, {__VA_ARGS__ }, kSocket }
#define CALL(label) \
  { #label, do_##label, NULL, {0 }, kFunction }
#define CHILD(label) \
  { #label, NULL, do_##label, {0 }, kFunction }

static struct attempt {
  const char* name;
  long (*call)(void);
  int (*child)(void);
  long args[7];  // of a raw call: its number first
  enum { kFunction, kRaw, kSocket } kind;
} attempts[] = {
    CHILD(unshare_user),
    CHILD(unshare_net),
    CHILD(unshare_mount),
    CHILD(setns),
    CHILD(mount),
    CHILD(chroot),
    CHILD(setuid),
    CHILD(personality),
    CALL(clone_user),
    CALL(clone3),
    CALL(ptrace),
    CALL(io_uring),
    CALL(bpf),
    CALL(perf),
    CALL(tiocsti),
    RAW(fsopen, SYS_fsopen, (long)"tmpfs", 0),
    RAW(fsmount, SYS_fsmount, -1, 0, 0),
    RAW(fsconfig, SYS_fsconfig, -1, 0, 0, 0, 0),
    RAW(fspick, SYS_fspick, AT_FDCWD, (long)"/", 0),
    RAW(open_tree, SYS_open_tree, AT_FDCWD, (long)"/", 1 /* CLONE */),
    RAW(move_mount, SYS_move_mount, -1, (long)"", -1, (long)"", 0),
    RAW(mount_setattr, SYS_mount_setattr, -1, (long)"", 0, 0, 0),
    RAW(pivot_root, SYS_pivot_root, (long)"/nonexistent", (long)"/nonexistent"),
    RAW(umount2, SYS_umount2, (long)"/nonexistent", 0),
    RAW(add_key, SYS_add_key, (long)"user", (long)"paddock-probe", (long)"x", 1, -2),
    RAW(request_key, SYS_request_key, (long)"user", (long)"paddock-probe", 0, 0),
    RAW(keyctl, SYS_keyctl, 0 /* GET_KEYRING_ID */, -3, 0),
    RAW(userfaultfd, SYS_userfaultfd, 1 /* USER_MODE_ONLY */),
    RAW(process_vm_readv, SYS_process_vm_readv, 1, 0, 0, 0, 0, 0),
    RAW(process_vm_writev, SYS_process_vm_writev, 1, 0, 0, 0, 0, 0),
    RAW(kcmp, SYS_kcmp, 1, 1, 0, 0, 0),
    RAW(pidfd_getfd, SYS_pidfd_getfd, -1, 0, 0),
    RAW(open_by_handle_at, SYS_open_by_handle_at, AT_FDCWD, 0, 0),
    RAW(name_to_handle_at, SYS_name_to_handle_at, AT_FDCWD, (long)"/", 0, 0, 0),
    RAW(kexec_load, SYS_kexec_load, 0, 99999, 0, 0),
    RAW(kexec_file_load, SYS_kexec_file_load, -1, -1, 0, 0, 0),
    RAW(init_module, SYS_init_module, 0, 0, (long)""),
    RAW(finit_module, SYS_finit_module, -1, (long)"", 0),
    RAW(delete_module, SYS_delete_module, (long)"paddock_probe", 0),
    RAW(reboot, SYS_reboot, 0, 0, 0, 0),
    RAW(swapon, SYS_swapon, (long)"/nonexistent", 0),
    RAW(swapoff, SYS_swapoff, (long)"/nonexistent"),
    RAW(acct, SYS_acct, (long)"/nonexistent"),
    RAW(quotactl, SYS_quotactl, 0, 0, 0, 0),
    RAW(syslog, SYS_syslog, 3 /* READ_ALL */, 0, 0),
    RAW(settimeofday, SYS_settimeofday, 0, 0),
    RAW(clock_settime, SYS_clock_settime, 0, 0),
    RAW(adjtimex, SYS_adjtimex, 0 /* EFAULT */),
    RAW(iopl, SYS_iopl, 3),
    RAW(ioperm, SYS_ioperm, 0x80, 1, 1),
    RAW(mbind, SYS_mbind, 0, 0, 0, 0, 0, 0),
    RAW(move_pages, SYS_move_pages, 1, 0, 0, 0, 0, 0),
    RAW(migrate_pages, SYS_migrate_pages, 1, 0, 0, 0),
    RAW(lookup_dcookie, SYS_lookup_dcookie, 0, 0, 0),
    RAW(nfsservctl, SYS_nfsservctl, 0, 0, 0),
    RAW(fanotify_init, SYS_fanotify_init, 0, 0),
    RAW(seccomp_listener, SYS_seccomp, 1, 8 /* NEW_LISTENER */, 0),
    RAW(mknod_block, SYS_mknod, (long)"/nonexistent/block", 0060600, 0x0800),
    FAMILY(af_alg, AF_ALG, SOCK_SEQPACKET, 0),
    FAMILY(af_packet, AF_PACKET, SOCK_RAW, 0),
    FAMILY(af_vsock, AF_VSOCK, SOCK_STREAM, 0),
    FAMILY(af_xdp, 44, SOCK_RAW, 0),
    FAMILY(af_bluetooth, AF_BLUETOOTH, SOCK_RAW, 0),
    FAMILY(af_netlink_netfilter, AF_NETLINK, SOCK_RAW, 12),
    FAMILY(af_netlink_audit, AF_NETLINK, SOCK_RAW, 9),
    FAMILY(af_netlink_route, AF_NETLINK, SOCK_RAW, 0),
    FAMILY(af_key, AF_KEY, SOCK_RAW, 2),
    FAMILY(af_can, AF_CAN, SOCK_RAW, 1),
    FAMILY(af_tipc, AF_TIPC, SOCK_STREAM, 0),
    FAMILY(af_rds, AF_RDS, SOCK_SEQPACKET, 0),
    FAMILY(raw_icmp, AF_INET, SOCK_RAW, 1),
    FAMILY(sctp, AF_INET, SOCK_STREAM, 132),
    FAMILY(dccp, AF_INET, 6, 33),
    FAMILY(mptcp, AF_INET, SOCK_STREAM, 262),
    FAMILY(af_inet, AF_INET, SOCK_STREAM, 0),
    FAMILY(af_inet6, AF_INET6, SOCK_DGRAM, 0),
    FAMILY(af_unix, AF_UNIX, SOCK_STREAM, 0),
};

static long make(const struct attempt* a) {
  if (a->call) return a->call();
  if (a->child) return in_child(a->child);
  if (a->kind == kSocket) return family((int)a->args[0], (int)a->args[1], (int)a->args[2]);
  return syscall(a->args[0], a->args[1], a->args[2], a->args[3], a->args[4], a->args[5],
                 a->args[6]);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; i++) {
    const struct attempt* found = NULL;
    for (size_t k = 0; k < sizeof attempts / sizeof *attempts; k++)
      if (strcmp(attempts[k].name, argv[i]) == 0) found = &attempts[k];
    if (!found) {
      fprintf(stderr, "probe: no attempt named %s\n", argv[i]);
      return 2;
    }
    errno = 0;
    long result = make(found);
    printf("%s: %s\n", argv[i], result < 0 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
  }
  return 0;
}
