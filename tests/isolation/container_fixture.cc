#include "container_fixture.h"

#include <linux/sched.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strings.h"
#include "isolation/levels.h"
#include "sys/child.h"
#include "sys/files.h"
#include "sys/random.h"

namespace paddock::isolation::testing {
namespace {

int do_nothing(void*) {
  return 0;
}

// Beside the test program: both may have been copied to where an ordinary user reads them.
std::string guest_program() {
  std::string self = sys::real_path("/proc/self/exe").value();
  return self.substr(0, self.rfind('/')) + "/guest_shell";
}

void send_all(int fd, const void* bytes, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t n = ::write(fd, static_cast<const char*>(bytes) + done, size - done);
    ASSERT_GT(n, 0) << "the sandbox is gone";
    done += static_cast<size_t>(n);
  }
}

bool receive_all(int fd, void* bytes, size_t size) {
  for (size_t done = 0; done < size;) {
    struct pollfd ready {
      fd, POLLIN, 0
    };
    if (::poll(&ready, 1, 60000) != 1) return false;
    ssize_t n = ::read(fd, static_cast<char*>(bytes) + done, size - done);
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

bool has_user_namespaces() {
  return sys::clone_child({CLONE_NEWUSER, -1}, do_nothing, nullptr).ok();
}

ContainerTest::ContainerTest() : backend_(make_backend(model::Level::container).value()) {
  // Where ids are not the test's own, the way to its files must be open.
  ::chmod(dir_.path().c_str(), 0755);
  for (const char* name : {"/workspace", "/state", "/etc", "/view", "/view/fs", "/view/work"}) {
    EXPECT_TRUE(sys::make_dir(dir_.path() + name, 0755).ok());
  }
  EXPECT_TRUE(
      sys::replace_file(dir_.path() + "/etc/passwd", "user:x:0:0::/home/user:/bin/sh\n", 0644)
          .ok());
}

SandboxPlan ContainerTest::host_plan() const {
  SandboxPlan plan;
  plan.id = model::SandboxId::from_entropy(sys::random_bytes(8));
  plan.files.overlays.push_back(
      {model::GuestPath("/usr"), {model::HostPath("/usr")}, std::nullopt});
  plan.files.overlays.push_back(
      {model::GuestPath("/etc"), {model::HostPath(dir_.path() + "/etc")}, std::nullopt});
  for (const char* name : {"bin", "sbin", "lib", "lib64"}) {
    plan.files.symlinks.push_back(
        {model::GuestPath(std::string("/") + name), std::string("usr/") + name});
  }
  plan.files.owner_uid = ::geteuid();
  plan.files.owner_gid = ::getegid();
  plan.home = model::GuestPath("/home/user");
  plan.hostname = "sandbox";
  plan.agent_program = model::HostPath(guest_program());
  plan.state_dir = model::HostPath(dir_.path() + "/state/" + plan.id.str());
  EXPECT_TRUE(sys::make_dir(plan.state_dir.str(), 0755).ok());
  return plan;
}

void ContainerTest::add_workspace(SandboxPlan& plan, const std::string& at) {
  plan.files.overlays.push_back(
      {model::GuestPath(at),
       {model::HostPath(workspace())},
       model::UpperDirs{model::HostPath(upper()), model::HostPath(directory() + "/view/work")}});
}

std::unique_ptr<Sandbox> ContainerTest::must_start(const SandboxPlan& plan) {
  auto started = start(plan);
  EXPECT_TRUE(started.ok()) << started.error().describe() << " [" << started.error().remedy()
                            << "]";
  return started.ok() ? std::move(started).value() : nullptr;
}

CommandOutcome ContainerTest::run(Sandbox& sandbox, const std::string& command) {
  int fd = sandbox.stream().get();
  auto size = static_cast<uint32_t>(command.size());
  send_all(fd, &size, sizeof size);
  send_all(fd, command.data(), command.size());
  CommandOutcome outcome;
  if (!receive_all(fd, &size, sizeof size) || size == 0) {
    ADD_FAILURE() << "the sandbox is gone";
    return outcome;
  }
  std::string answer(size, '\0');
  EXPECT_TRUE(receive_all(fd, answer.data(), answer.size()));
  outcome.status = static_cast<unsigned char>(answer[0]);
  outcome.output = std::string(trim(std::string_view(answer).substr(1)));
  return outcome;
}

std::string ContainerTest::output_of(Sandbox& sandbox, const std::string& command) {
  CommandOutcome outcome = run(sandbox, command);
  EXPECT_EQ(outcome.status, 0) << command << ": " << outcome.output;
  return outcome.output;
}

}  // namespace paddock::isolation::testing
