#include "agent/guest_boot.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>

#include "base/strings.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/machine.h"

namespace paddock::agent {
namespace {

constexpr char kModuleList[] = "/etc/paddock/modules";
constexpr std::string_view kPortName = "paddock.agent";
constexpr char kPorts[] = "/sys/class/virtio-ports";
constexpr int64_t kPatienceUs = 20'000'000;
constexpr int kStepMs = 5;

constexpr unsigned long kPlain = MS_NOSUID | MS_NODEV | MS_NOEXEC;
constexpr sys::PseudoMount kMounts[] = {
    {"proc", "/proc", "", kPlain},
    {"sysfs", "/sys", "", kPlain},
    {"devtmpfs", "/dev", "mode=0755", MS_NOSUID | MS_NOEXEC},
    {"devpts", "/dev/pts", "newinstance,ptmxmode=0666,mode=0620", MS_NOSUID | MS_NOEXEC},
    {"tmpfs", "/dev/shm", "mode=1777", MS_NOSUID | MS_NODEV},
    {"tmpfs", "/tmp", "mode=1777", MS_NOSUID | MS_NODEV},
    {"tmpfs", "/run", "mode=0755", MS_NOSUID | MS_NODEV},
};

struct Link {
  const char* target;
  const char* name;
};
// devtmpfs makes /dev/ptmx a device of the kernel's first devpts instance; programs want ours.
constexpr Link kLinks[] = {{"/proc/self/fd", "/dev/fd"},
                           {"/proc/self/fd/0", "/dev/stdin"},
                           {"/proc/self/fd/1", "/dev/stdout"},
                           {"/proc/self/fd/2", "/dev/stderr"},
                           {"pts/ptmx", "/dev/ptmx"}};

Status prepare_file_systems() {
  for (const sys::PseudoMount& mount : kMounts) PD_TRY(sys::mount_pseudo(mount));
  for (const Link& link : kLinks) {
    ::unlink(link.name);
    if (::symlink(link.target, link.name) != 0) {
      return Error::from_errno(errno, std::string("making ") + link.name);
    }
  }
  return {};
}

// The kernel gives init no descriptors when the initial file system has no /dev/console.
void speak_on_console() {
  const sys::Fd console(::open("/dev/console", O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!console.is_open()) return;
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(console.get(), fd);
}

Status load_modules() {
  if (!sys::exists(kModuleList)) return {};
  const std::string text = PD_TRY(sys::read_file(kModuleList));
  for (const ModuleLine& line : parse_module_list(text)) {
    PD_TRY(sys::load_module(line.path, line.parameters));
  }
  return {};
}

// The device of the port with our name; empty: it is not there yet.
Result<std::string> find_port() {
  auto ports = sys::open_dir(kPorts);
  if (!ports.ok()) return std::string();
  for (const sys::DirEntry& entry : PD_TRY(sys::list_dir(*ports))) {
    // By path: the entries are links, and /sys is the kernel's word.
    auto name = sys::read_file(std::string(kPorts) + "/" + entry.name + "/name");
    if (name.ok() && trim(*name) == kPortName) return "/dev/" + entry.name;
  }
  return std::string();
}

// A port whose other side is not open reads as ended.
bool host_is_there(const sys::Fd& port) {
  pollfd poll{.fd = port.get(), .events = POLLIN, .revents = 0};
  return ::poll(&poll, 1, 0) >= 0 && (poll.revents & POLLHUP) == 0;
}

Result<sys::Fd> open_port() {
  const int64_t until = sys::monotonic_us() + kPatienceUs;
  sys::Fd port;
  while (sys::monotonic_us() < until) {
    if (!port.is_open()) {
      const std::string device = PD_TRY(find_port());
      if (!device.empty()) port = sys::Fd(::open(device.c_str(), O_RDWR | O_CLOEXEC));
    }
    if (port.is_open() && host_is_there(port)) return port;
    ::poll(nullptr, 0, kStepMs);
  }
  return Error(Code::timed_out, "no host at the virtio-serial port " + std::string(kPortName));
}

}  // namespace

std::vector<ModuleLine> parse_module_list(std::string_view text) {
  std::vector<ModuleLine> lines;
  for (const std::string& raw : split(text, '\n')) {
    const std::string_view line = trim(raw);
    if (line.empty() || line.front() == '#') continue;
    const size_t blank = std::min(line.find(' '), line.size());
    lines.push_back({std::string(line.substr(0, blank)), std::string(trim(line.substr(blank)))});
  }
  return lines;
}

Result<sys::Fd> boot_guest() {
  PD_TRY_CTX("booting the guest", prepare_file_systems());
  speak_on_console();
  PD_TRY_CTX("booting the guest", load_modules());
  return open_port().with_context("booting the guest");
}

}  // namespace paddock::agent
