#include "isolation/seccomp/table.h"

#include <asm/ioctls.h>
#include <linux/netlink.h>
#include <linux/personality.h>
#include <linux/sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>

namespace paddock::isolation::seccomp {
namespace {

using Is = Condition::Is;
using Rows = std::vector<Row>;

constexpr Action kRefuse = Action::refuse;
constexpr Action kReport = Action::refuse_and_report;

// Newer than Debian 12's headers; numbers are the same on every architecture.
constexpr int kOpenTreeAttr = 467;

// Protocols beside what IPPROTO_* in <netinet/in.h> may lack.
constexpr int kDccp = 33;
constexpr int kSctp = 132;
constexpr int kUdpLite = 136;
constexpr int kMptcp = 262;

#define PD_CALL(name) #name, SYS_##name

Condition argument_is(unsigned argument, uint64_t value) {
  return {argument, Is::equal_under_mask, 0xffffffff, value};
}
Condition has_bits(unsigned argument, uint64_t bits) {
  return {argument, Is::equal_under_mask, bits, bits};
}

// ---- whole calls ----

void add_whole_calls(Rows& rows) {
  const char* mounts = "mounts are made by Paddock from outside; fsconfig alone had CVE-2022-0185";
  rows.insert(
      rows.end(),
      {{PD_CALL(mount), kReport, EPERM, mounts, {}},
       {PD_CALL(umount2), kReport, EPERM, mounts, {}},
       {PD_CALL(pivot_root), kReport, EPERM, mounts, {}},
       {PD_CALL(fsopen), kReport, EPERM, mounts, {}},
       {PD_CALL(fspick), kReport, EPERM, mounts, {}},
       {PD_CALL(fsconfig), kReport, EPERM, mounts, {}},
       {PD_CALL(fsmount), kReport, EPERM, mounts, {}},
       {PD_CALL(move_mount), kReport, EPERM, mounts, {}},
       {PD_CALL(open_tree), kReport, EPERM, mounts, {}},
       {"open_tree_attr", kOpenTreeAttr, kReport, EPERM, mounts, {}},
       {PD_CALL(mount_setattr), kReport, EPERM, mounts, {}},
       {PD_CALL(setns), kReport, EPERM, "joins namespaces of others", {}},
       {PD_CALL(clone3),
        kRefuse,
        ENOSYS,
        "its flags lie in memory, where a filter cannot look; every libc falls back to clone",
        {}},
       {PD_CALL(bpf), kReport, EPERM, "programs in the kernel", {}},
       {PD_CALL(perf_event_open), kReport, EPERM, "watches the host; long record of CVEs", {}},
       {PD_CALL(userfaultfd),
        kReport,
        EPERM,
        "stops the kernel at a chosen page: race exploits",
        {}},
       {PD_CALL(io_uring_setup),
        kRefuse,
        ENOSYS,
        "a second system call interface that no filter sees; users fall back",
        {}},
       {PD_CALL(io_uring_enter), kRefuse, ENOSYS, "as io_uring_setup", {}},
       {PD_CALL(io_uring_register), kRefuse, ENOSYS, "as io_uring_setup", {}},
       {PD_CALL(add_key), kReport, EPERM, "keyrings are not split by namespace", {}},
       {PD_CALL(request_key), kReport, EPERM, "runs a host program to make the key", {}},
       {PD_CALL(keyctl), kReport, EPERM, "keyrings are not split by namespace", {}},
       {PD_CALL(kexec_load), kReport, EPERM, "replaces the kernel", {}},
       {PD_CALL(kexec_file_load), kReport, EPERM, "replaces the kernel", {}},
       {PD_CALL(init_module), kReport, EPERM, "loads code into the kernel", {}},
       {PD_CALL(finit_module), kReport, EPERM, "loads code into the kernel", {}},
       {PD_CALL(delete_module), kReport, EPERM, "unloads code of the kernel", {}},
       {PD_CALL(open_by_handle_at), kReport, EPERM, "opens files outside the root (Shocker)", {}},
       {PD_CALL(fanotify_init), kReport, EPERM, "watches whole mounts", {}},
       {PD_CALL(syslog), kReport, EPERM, "the host's kernel log", {}},
       {PD_CALL(swapon), kReport, EPERM, "the host's memory", {}},
       {PD_CALL(swapoff), kReport, EPERM, "the host's memory", {}},
       {PD_CALL(reboot), kReport, EPERM, "the host's power", {}},
       {PD_CALL(acct), kReport, EPERM, "the host's accounting", {}},
       {PD_CALL(quotactl), kReport, EPERM, "the host's quotas", {}},
       {PD_CALL(quotactl_fd), kReport, EPERM, "the host's quotas", {}},
       {PD_CALL(settimeofday), kReport, EPERM, "the host's clock", {}},
       {PD_CALL(clock_settime), kReport, EPERM, "the host's clock", {}},
       {PD_CALL(nfsservctl), kRefuse, ENOSYS, "removed from Linux; nobody needs it", {}},
       {PD_CALL(lookup_dcookie), kRefuse, ENOSYS, "kernel profiling", {}}});
#ifdef __x86_64__
  rows.insert(
      rows.end(),
      {{PD_CALL(iopl), kReport, EPERM, "the host's I/O ports", {}},
       {PD_CALL(ioperm), kReport, EPERM, "the host's I/O ports", {}},
       {PD_CALL(modify_ldt), kRefuse, ENOSYS, "16- and 32-bit segments: that ABI is off", {}},
       {PD_CALL(uselib), kRefuse, ENOSYS, "obsolete; had CVEs", {}},
       {PD_CALL(ustat), kRefuse, ENOSYS, "obsolete; asks about the host's devices", {}},
       {PD_CALL(sysfs), kRefuse, ENOSYS, "obsolete", {}}});
#endif
}

// ---- namespaces ----

void add_namespaces(Rows& rows) {
  const char* reason =
      "a user namespace opens the kernel's root-only surface (nf_tables and most escapes of late)";
  for (uint64_t flag : {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC,
                        CLONE_NEWUTS, CLONE_NEWCGROUP}) {
    rows.push_back({PD_CALL(clone), kReport, EPERM, reason, {has_bits(0, flag)}});
    rows.push_back({PD_CALL(unshare), kReport, EPERM, reason, {has_bits(0, flag)}});
  }
  rows.push_back({PD_CALL(unshare), kReport, EPERM, reason, {has_bits(0, CLONE_NEWTIME)}});
}

// ---- sockets ----

void add_sockets(Rows& rows) {
  const char* families =
      "only unix, IPv4, IPv6 and route netlink: odd families are where the holes are (AF_ALG "
      "CVE-2026-31431), and vsock reaches the host";
  for (uint64_t family = 0; family < AF_NETLINK; ++family) {
    if (family == AF_UNIX || family == AF_INET || family == AF_INET6) continue;
    rows.push_back({PD_CALL(socket), kReport, EPERM, families, {argument_is(0, family)}});
  }
  // Compared as 64 bits: a set high bit is greater too.
  rows.push_back({PD_CALL(socket), kReport, EPERM, families, {{0, Is::greater, 0, AF_NETLINK}}});
  const char* netlink = "netlink other than route: netfilter, xfrm, uevents";
  for (uint64_t protocol = 1; protocol < NETLINK_AUDIT; ++protocol) {
    rows.push_back({PD_CALL(socket),
                    kReport,
                    EPERM,
                    netlink,
                    {argument_is(0, AF_NETLINK), argument_is(2, protocol)}});
  }
  rows.push_back({PD_CALL(socket),
                  kReport,
                  EPERM,
                  netlink,
                  {argument_is(0, AF_NETLINK), {2, Is::greater, 0, NETLINK_AUDIT}}});
  // As a kernel without it: libaudit, in useradd and what installs by that, goes on then.
  rows.push_back({PD_CALL(socket),
                  kRefuse,
                  EPROTONOSUPPORT,
                  "the host's audit log",
                  {argument_is(0, AF_NETLINK), argument_is(2, NETLINK_AUDIT)}});
  for (uint64_t family : {AF_INET, AF_INET6}) {
    for (uint64_t protocol : {kDccp, kSctp, kUdpLite, kMptcp}) {
      rows.push_back({PD_CALL(socket),
                      kRefuse,
                      EPROTONOSUPPORT,
                      "transports that nothing needs and the network table cannot carry",
                      {argument_is(0, family), argument_is(2, protocol)}});
    }
    for (uint64_t type : {SOCK_SEQPACKET, SOCK_DCCP}) {
      rows.push_back({PD_CALL(socket),
                      kRefuse,
                      ESOCKTNOSUPPORT,
                      "SCTP and DCCP by type",
                      {argument_is(0, family), {1, Is::equal_under_mask, 0xf, type}}});
    }
  }
  const char* pairs = "pairs are unix sockets; other families (TIPC) have no use here";
  rows.push_back({PD_CALL(socketpair), kRefuse, EOPNOTSUPP, pairs, {argument_is(0, 0)}});
  rows.push_back({PD_CALL(socketpair), kRefuse, EOPNOTSUPP, pairs, {{0, Is::greater, 0, AF_UNIX}}});
}

// ---- terminals and processes ----

void add_terminals(Rows& rows) {
  rows.push_back({PD_CALL(ioctl),
                  kReport,
                  EPERM,
                  "types into the terminal it shares",
                  {argument_is(1, TIOCSTI)}});
  rows.push_back(
      {PD_CALL(ioctl), kReport, EPERM, "pastes into the console", {argument_is(1, TIOCLINUX)}});
  rows.push_back({PD_CALL(ioctl),
                  kReport,
                  EPERM,
                  "takes over the console's output",
                  {argument_is(1, TIOCCONS)}});
  rows.push_back({PD_CALL(ioctl),
                  kReport,
                  EPERM,
                  "line disciplines: modules with a record of CVEs",
                  {argument_is(1, TIOCSETD)}});
}

// The host's core_pattern may be a program, run as root on the host with the sandbox's bytes.
// RLIMIT_CORE is 1 before anything runs, the kernel's mark for "no dump at all"; 0 would call the
// program. Programs that switch their dumps off (gpg, ssh-agent) are told that it was done: it is.
void add_core_limit(Rows& rows) {
  const char* reason = "core dumps stay off";
  rows.push_back({PD_CALL(setrlimit), kRefuse, 0, reason, {argument_is(0, RLIMIT_CORE)}});
  rows.push_back({PD_CALL(prlimit64),
                  kRefuse,
                  0,
                  reason,
                  {argument_is(1, RLIMIT_CORE), {2, Is::different, 0, 0}}});
}

// Allowed: execution domains as such and ADDR_NO_RANDOMIZE (debuggers, sanitizers); asking
// (0xffffffff) is allowed too, which has every bit.
void add_personality(Rows& rows) {
  const char* reason = "weakens memory protection or poses as another system";
  constexpr uint64_t kAsking = 1u << 31;  // of no personality; set when it is only asked for
  for (uint64_t bit : {READ_IMPLIES_EXEC, MMAP_PAGE_ZERO, ADDR_COMPAT_LAYOUT, ADDR_LIMIT_32BIT,
                       ADDR_LIMIT_3GB, SHORT_INODE, WHOLE_SECONDS, STICKY_TIMEOUTS}) {
    rows.push_back({PD_CALL(personality),
                    kReport,
                    EPERM,
                    reason,
                    {{0, Is::equal_under_mask, kAsking | bit, bit}}});
  }
  // The top bit without all others is nobody's question.
  for (unsigned bit = 0; bit < 31; ++bit) {
    rows.push_back({PD_CALL(personality),
                    kReport,
                    EPERM,
                    reason,
                    {{0, Is::equal_under_mask, kAsking | (1u << bit), kAsking}}});
  }
}

Rows make_table() {
  Rows rows;
  add_whole_calls(rows);
  add_namespaces(rows);
  add_sockets(rows);
  add_terminals(rows);
  add_core_limit(rows);
  add_personality(rows);
  return rows;
}

}  // namespace

const std::vector<Row>& table() {
  static const Rows rows = make_table();
  return rows;
}

}  // namespace paddock::isolation::seccomp
