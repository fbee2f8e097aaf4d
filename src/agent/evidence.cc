#include "agent/evidence.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <optional>

#include "base/strings.h"
#include "sys/credentials.h"
#include "sys/landlock.h"
#include "sys/vfork.h"

namespace paddock::agent {
namespace {

constexpr std::array kNamespaces{"user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time"};
constexpr std::array kNamespacePaths{
    "/proc/self/ns/user", "/proc/self/ns/mnt", "/proc/self/ns/pid",    "/proc/self/ns/net",
    "/proc/self/ns/ipc",  "/proc/self/ns/uts", "/proc/self/ns/cgroup", "/proc/self/ns/time"};

// A file as the probe child read it.
struct Text {
  std::array<char, 4096> bytes;
  ssize_t size = -1;

  void read_from(const char* path) {
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    size = ::read(fd, bytes.data(), bytes.size());
    ::close(fd);
  }
  std::string_view view() const { return {bytes.data(), static_cast<size_t>(size < 0 ? 0 : size)}; }
};

struct Probe {
  // Where the sandbox has several users. As LaunchPlan does it.
  std::optional<sys::Identity> identity;
  uint64_t capabilities = 0;
  int error = 0;
  Text status;
  Text uid_map;
  Text gid_map;
  std::array<uint64_t, kNamespaces.size()> namespaces{};

  void read_self() {
    if (identity) error = sys::raw_become(*identity, capabilities);
    if (error != 0) return;
    status.read_from("/proc/self/status");
    uid_map.read_from("/proc/self/uid_map");
    gid_map.read_from("/proc/self/gid_map");
    for (size_t i = 0; i < kNamespaces.size(); ++i) {
      struct stat info;
      // The inode behind the link: what lsns(8) prints. 0 where the kernel has no such namespace.
      if (::stat(kNamespacePaths[i], &info) == 0) namespaces[i] = info.st_ino;
    }
  }
};

Status run_probe(Probe& probe) {
  // SAFETY: only system calls, and stores to the probe.
  const pid_t pid =
      sys::run_in_vfork([](void* self) { static_cast<Probe*>(self)->read_self(); }, &probe);
  if (pid < 0) return Error::from_errno(errno, "forking the probe");
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (probe.error != 0) return Error::from_errno(probe.error, "becoming the probe's user");
  return {};
}

// The rest of the line that begins with `key`, without blanks around it.
std::optional<std::string_view> find_line(std::string_view status, std::string_view key) {
  while (!status.empty()) {
    std::string_view line = status.substr(0, status.find('\n'));
    status.remove_prefix(std::min(status.size(), line.size() + 1));
    if (line.starts_with(key)) return trim(line.substr(key.size()));
  }
  return std::nullopt;
}

Result<uint64_t> find_number(std::string_view status, std::string_view key, int base) {
  const auto text = find_line(status, key);
  uint64_t value = 0;
  if (!text ||
      std::from_chars(text->data(), text->data() + text->size(), value, base).ec != std::errc()) {
    return Error(Code::data_corrupt, "no " + std::string(key) + " in /proc/self/status");
  }
  return value;
}

Result<wire::Evidence> ask(Probe& probe) {
  PD_TRY(run_probe(probe));
  wire::Evidence evidence;
  PD_TRY_CTX("reading the probe child", parse_status(probe.status.view(), evidence));
  evidence.set_uid_map(std::string(probe.uid_map.view()));
  evidence.set_gid_map(std::string(probe.gid_map.view()));
  for (size_t i = 0; i < kNamespaces.size(); ++i) {
    if (probe.namespaces[i] != 0) {
      (*evidence.mutable_namespaces())[kNamespaces[i]] = probe.namespaces[i];
    }
  }
  return evidence;
}

void parse_groups(std::string_view text, wire::Evidence& evidence) {
  for (const std::string& group : split(text, ' ')) {
    if (auto number = parse_u64(group)) evidence.add_groups(static_cast<uint32_t>(*number));
  }
}

}  // namespace

Status parse_status(std::string_view status, wire::Evidence& evidence) {
  evidence.set_seccomp_mode(static_cast<uint32_t>(PD_TRY(find_number(status, "Seccomp:", 10))));
  // 5.9 on.
  evidence.set_seccomp_filters(
      static_cast<uint32_t>(PD_TRY(find_number(status, "Seccomp_filters:", 10))));
  evidence.set_cap_inheritable(PD_TRY(find_number(status, "CapInh:", 16)));
  evidence.set_cap_permitted(PD_TRY(find_number(status, "CapPrm:", 16)));
  evidence.set_cap_effective(PD_TRY(find_number(status, "CapEff:", 16)));
  evidence.set_cap_bounding(PD_TRY(find_number(status, "CapBnd:", 16)));
  evidence.set_cap_ambient(PD_TRY(find_number(status, "CapAmb:", 16)));
  evidence.set_no_new_privs(PD_TRY(find_number(status, "NoNewPrivs:", 10)) == 1);
  // The first of four: real, effective, saved, file system.
  evidence.set_uid(static_cast<uint32_t>(PD_TRY(find_number(status, "Uid:", 10))));
  evidence.set_gid(static_cast<uint32_t>(PD_TRY(find_number(status, "Gid:", 10))));
  // The probe shares the agent's memory. Kibibytes.
  evidence.set_agent_private_bytes(PD_TRY(find_number(status, "RssAnon:", 10)) * 1024);
  if (auto groups = find_line(status, "Groups:")) parse_groups(*groups, evidence);
  return {};
}

Result<wire::Evidence> gather_evidence(const wire::Setup& setup) {
  Probe probe;
  if (setup.user_capabilities() != 0) probe.identity = {setup.uid(), setup.gid(), {}};
  wire::Evidence evidence = PD_TRY(ask(probe));
  if (setup.user_capabilities() != 0) {
    Probe as_root;
    as_root.identity = sys::Identity{};
    as_root.capabilities = setup.user_capabilities();
    *evidence.mutable_as_root() = PD_TRY_CTX("as root", ask(as_root));
  }
  struct utsname machine {};
  if (::uname(&machine) == 0) evidence.set_kernel_release(machine.release);
  evidence.set_landlock_abi(static_cast<uint32_t>(sys::landlock_abi()));
  return evidence;
}

}  // namespace paddock::agent
