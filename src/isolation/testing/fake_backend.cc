#include "isolation/testing/fake_backend.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "sys/child.h"
#include "sys/pipe.h"
#include "wire/build_id.h"

namespace paddock::isolation::testing {
namespace {

int wait_to_be_killed(void*) {
  while (true) ::pause();
}

// The far end of the stream, on a thread of its own.
class FakeAgent {
 public:
  FakeAgent(sys::SocketFd stream, const FakeOptions& options)
      : stream_(std::move(stream)), options_(options), thread_([this] { run(); }) {}

  ~FakeAgent() {
    set_frozen(false);
    ::shutdown(stream_.get(), SHUT_RDWR);
    thread_.join();
  }

  void set_frozen(bool frozen) {
    std::lock_guard lock(mutex_);
    frozen_ = frozen;
    changed_.notify_all();
  }

 private:
  void run() {
    wire::ToHost hello;
    hello.mutable_hello()->set_protocol(wire::kProtocolVersion);
    hello.mutable_hello()->set_build_id(std::string(wire::build_id()));
    if (!channel_.send(hello).ok()) return;
    std::array<char, 65536> buffer;
    while (flush()) {
      ssize_t n = ::read(stream_.get(), buffer.data(), buffer.size());
      wait_while_frozen();
      if (n <= 0 || !channel_.receive({buffer.data(), static_cast<size_t>(n)}).ok()) return;
      while (auto event = channel_.next_event()) {
        if (auto* message = std::get_if<wire::ToAgent>(&*event)) answer(*message);
      }
    }
  }

  void wait_while_frozen() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !frozen_; });
  }

  bool flush() {
    while (!channel_.output().empty()) {
      ssize_t n =
          ::send(stream_.get(), channel_.output().data(), channel_.output().size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      channel_.written(static_cast<size_t>(n));
    }
    return true;
  }

  void answer(const wire::ToAgent& message) {
    if (!message.has_setup()) {
      if (options_.script) options_.script(message, channel_);
      return;
    }
    wire::ToHost reply;
    reply.set_request(message.request());
    wire::Evidence& evidence = *reply.mutable_evidence();
    if (options_.evidence == FakeOptions::Evidence::good) {
      evidence.set_seccomp_mode(SECCOMP_MODE_FILTER);
      evidence.set_no_new_privs(true);
    }
    (void)channel_.send(reply).ok();
  }

  sys::SocketFd stream_;
  const FakeOptions& options_;
  wire::AgentChannel channel_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool frozen_ = false;
  std::thread thread_;  // last: it uses the others
};

class FakeSandbox : public Sandbox {
 public:
  FakeSandbox(const SandboxPlan& plan, const FakeOptions& options, sys::SocketPair ends,
              sys::Process process)
      : options_(options),
        lifetime_(plan.lifetime),
        open_files_(plan.limits.open_files),
        stream_(std::move(ends.first)),
        process_(std::move(process)),
        agent_(std::make_unique<FakeAgent>(std::move(ends.second), options)) {}

  const sys::SocketFd& stream() const override { return stream_; }
  const sys::PidFd& agent() const override { return process_.pidfd(); }

  wire::Setup setup() const override {
    wire::Setup setup;
    setup.set_bound(lifetime_ == Lifetime::bound);
    return setup;
  }
  std::vector<std::string> check(const wire::Evidence& evidence) const override {
    if (evidence.no_new_privs() && evidence.seccomp_mode() == SECCOMP_MODE_FILTER) return {};
    return {"the evidence is forged"};
  }
  void confine(wire::Start& start) const override {
    wire::ResourceLimit* limit = start.add_limits();
    limit->set_resource(RLIMIT_NOFILE);
    limit->set_value(open_files_);
  }
  const std::vector<model::Control>& controls() const override { return options_.controls; }
  std::vector<model::Denial> limits_hit() override { return options_.limits_hit; }
  bool oom_killed() override { return false; }
  model::Usage usage() override { return {}; }

  model::Control pausing() const override {
    return {"pause", model::ControlState::enforced, "it is a test's"};
  }
  Status freeze() override {
    if (agent_) agent_->set_frozen(true);
    return {};
  }
  Status thaw() override {
    if (agent_) agent_->set_frozen(false);
    return {};
  }
  Status replace_files(const model::FileSystem&) override { return {}; }
  Status destroy() override {
    agent_.reset();
    return process_.kill_and_wait();
  }
  void let_go() override {}  // its agent is a thread of this process

 private:
  const FakeOptions& options_;
  Lifetime lifetime_;
  uint64_t open_files_;
  sys::SocketFd stream_;
  sys::Process process_;  // stands in for PID 1: a pidfd that tells of its end
  std::unique_ptr<FakeAgent> agent_;
};

}  // namespace

std::vector<Probe> FakeBackend::probe() {
  return {{"container", model::ControlState::enforced, "it is a test's", ""}};
}

Result<std::unique_ptr<Sandbox>> FakeBackend::start(const SandboxPlan& plan) {
  if (options_.before_start) PD_TRY(options_.before_start(plan));
  auto ends = PD_TRY(sys::make_socket_pair(SOCK_STREAM));
  PD_TRY(sys::set_nonblocking(ends.first));
  // Before there is a thread: it is a copy of this process.
  auto process = PD_TRY(sys::clone_child({}, wait_to_be_killed, nullptr));
  started_.push_back(plan);
  return std::unique_ptr<Sandbox>(
      std::make_unique<FakeSandbox>(plan, options_, std::move(ends), std::move(process)));
}

Result<std::unique_ptr<Sandbox>> FakeBackend::adopt(const Adoption&) {
  return Error(Code::not_found, "a test's sandbox has ended with its process");
}

Status FakeBackend::reclaim(const model::SandboxId& id) {
  reclaimed_.push_back(id);
  return {};
}

}  // namespace paddock::isolation::testing
