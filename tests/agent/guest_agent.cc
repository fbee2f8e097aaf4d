#include "guest_agent.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include <gtest/gtest.h>

#include "applets.h"
#include "base/strings.h"
#include "cpio.h"
#include "kernel_image.h"
#include "sys/child.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/random.h"
#include "sys/testing/temp_dir.h"

namespace paddock::agent::testing {
namespace {

constexpr char kQemu[] = "/usr/bin/qemu-system-x86_64";
constexpr uint32_t kUser = 1000;
constexpr int kConnectMs = 30'000;

// What the agent needs of the kernel, beside what is built in. virtio_mmio comes last of the first
// four: it finds the devices that the others drive.
const std::vector<std::string> kModules{
    "virtio_console", "virtio_mmio", "nf_tables", "nft_log",  "nft_reject_inet", "nfnetlink_log",
    "nft_chain_nat",  "nft_redir",   "inet_diag", "tcp_diag", "udp_diag"};

Result<std::string> read_program(const std::string& path) {
  auto bytes = sys::read_file(path);
  if (bytes.ok()) return bytes;
  return Error(Code::unsupported, "needs busybox-static: " + bytes.error().describe());
}

Status add_modules(CpioArchive& archive, const Kernel& kernel) {
  const std::string dependencies = PD_TRY(sys::read_file(kernel.module_dir + "/modules.dep"));
  std::string list;
  for (const std::string& path : PD_TRY(order_modules(dependencies, kModules))) {
    const std::string name = "lib/modules/" + path.substr(path.rfind('/') + 1);
    archive.add_file(name, 0644, PD_TRY(sys::read_file(kernel.module_dir + "/" + path)));
    list += "/" + name + "\n";
  }
  archive.add_dir("etc/paddock", 0755);
  archive.add_file("etc/paddock/modules", 0644, "# in this order\n" + list);
  return {};
}

Result<std::string> build_initramfs(const Kernel& kernel) {
  CpioArchive archive;
  for (const char* dir : {"bin", "dev", "etc", "lib", "lib/modules", "proc", "run", "sys"}) {
    archive.add_dir(dir, 0755);
  }
  archive.add_dir("tmp", 01777);
  archive.add_file("init", 0755, PD_TRY(read_program(PADDOCK_BINARY_DIR "/bin/paddock-agent")));
  archive.add_file("bin/busybox", 0755, PD_TRY(read_program("/bin/busybox")));
  archive.add_file("bin/agent-guest", 0755,
                   PD_TRY(read_program(PADDOCK_BINARY_DIR "/guests/agent-guest")));
  for (const char* applet : kApplets) archive.add_link(std::string("bin/") + applet, "busybox");
  PD_TRY(add_modules(archive, kernel));
  return archive.take();
}

// Kernel and initial file system of all machines of this process.
struct Images {
  sys::testing::TempDir dir;
  std::string kernel = dir.path() + "/vmlinux";
  std::string initramfs = dir.path() + "/initramfs";

  Status build() {
    if (::access(kQemu, X_OK) != 0) {
      return Error(Code::unsupported,
                   "needs qemu: no qemu-system-x86_64 (package qemu-system-x86)");
    }
    const Kernel found = PD_TRY(find_cloud_kernel());
    const std::string image = PD_TRY(sys::read_file(found.image));
    const std::string elf = PD_TRY(unpack_kernel(image));
    PD_TRY(sys::replace_file(kernel, elf, 0644));
    return sys::replace_file(initramfs, PD_TRY(build_initramfs(found)), 0644);
  }
};

// The emulated processor counts with the host's clock; told its rate, the kernel does not measure
// it, which can hang when the host is busy.
std::string clock_arguments() {
  auto info = sys::read_file("/proc/cpuinfo");
  const size_t at = info.ok() ? info->find("cpu MHz") : std::string::npos;
  if (at == std::string::npos) return {};
  const std::string_view line = std::string_view(*info).substr(info->find(": ", at) + 2);
  const auto mhz = parse_u64(line.substr(0, line.find_first_of(".\n")));
  if (!mhz) return {};
  return " tsc_early_khz=" + std::to_string(*mhz * 1000) +
         " lpj=" + std::to_string(*mhz * 1'000'000 / 250);
}

struct QemuArguments {
  std::vector<std::string> words;
  std::vector<char*> pointers;
};

QemuArguments qemu_arguments(const Images& images, const std::string& socket,
                             const std::string& console) {
  QemuArguments out;
  out.words = {kQemu,
               "-M",
               "microvm,acpi=on,pcie=off,rtc=on,x-option-roms=off",
               "-accel",
               "tcg",
               "-cpu",
               "max",
               "-smp",
               "1",
               "-m",
               "384",
               "-nodefaults",
               "-no-user-config",
               "-no-reboot",
               "-display",
               "none",
               "-serial",
               "file:" + console,
               "-kernel",
               images.kernel,
               "-initrd",
               images.initramfs,
               "-append",
               "console=ttyS0 quiet panic=-1 no_timer_check" + clock_arguments(),
               "-device",
               "virtio-serial-device",
               "-chardev",
               "socket,id=agent,path=" + socket,
               "-device",
               "virtserialport,chardev=agent,name=paddock.agent"};
  for (std::string& word : out.words) out.pointers.push_back(word.data());
  out.pointers.push_back(nullptr);
  return out;
}

int run_qemu(void* arguments) {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::close_range(3, ~0U, 0);
  char* environment[] = {nullptr};
  ::execve(kQemu, static_cast<QemuArguments*>(arguments)->pointers.data(), environment);
  return 127;
}

Result<sys::SocketFd> listen_at(const std::string& path) {
  sys::SocketFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  // SAFETY: every socket address is passed as a sockaddr.
  const auto* name = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(socket.get(), name, sizeof address) != 0 || ::listen(socket.get(), 1) != 0) {
    return Error::from_errno(errno, "listening at " + path);
  }
  return socket;
}

class GuestAgent : public RunningAgent {
 public:
  static Result<std::unique_ptr<RunningAgent>> boot(const Images& images) {
    auto guest = std::make_unique<GuestAgent>();
    const std::string socket = guest->dir_.path() + "/agent";
    const sys::SocketFd listener = PD_TRY(listen_at(socket));
    QemuArguments arguments = qemu_arguments(images, socket, guest->dir_.path() + "/console");
    guest->qemu_ = PD_TRY(sys::clone_child({}, run_qemu, &arguments));
    pollfd poll[2] = {{listener.get(), POLLIN, 0}, {guest->qemu_.pidfd().get(), POLLIN, 0}};
    if (::poll(poll, 2, kConnectMs) <= 0 || (poll[0].revents & POLLIN) == 0) {
      return Error(Code::unavailable, "QEMU did not connect to the agent's stream");
    }
    guest->stream_ = sys::SocketFd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    return std::unique_ptr<RunningAgent>(std::move(guest));
  }

  ~GuestAgent() override {
    if (!::testing::Test::HasFailure()) return;
    auto console = sys::read_file(dir_.path() + "/console");
    if (console.ok()) std::fprintf(stderr, "guest's console:\n%s\n", console->c_str());
  }

  int stream() const override { return stream_.get(); }

  bool wait_gone(int ms) override {
    pollfd poll{.fd = qemu_.pidfd().get(), .events = POLLIN, .revents = 0};
    return ::poll(&poll, 1, ms) == 1;
  }

 private:
  sys::testing::TempDir dir_;
  sys::Process qemu_;
  sys::SocketFd stream_;
};

}  // namespace

Result<std::unique_ptr<RunningAgent>> start_in_guest() {
  static Images images;
  static const Status built = images.build();
  if (!built.ok()) return Status(built).error();
  return GuestAgent::boot(images);
}

wire::Setup setup_in_guest() {
  wire::Setup setup;
  setup.set_bound(true);
  setup.set_network_table(true);
  setup.set_denial_limit(1000);
  setup.set_uid(kUser);
  setup.set_gid(kUser);
  setup.set_entropy(sys::random_bytes(64));
  setup.set_wall_clock_ns(static_cast<uint64_t>(sys::wall_clock_ns()));
  return setup;
}

}  // namespace paddock::agent::testing
