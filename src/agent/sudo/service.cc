#include "agent/sudo/service.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "agent/launch.h"
#include "agent/sudo/socket.h"
#include "agent/supervisor.h"
#include "sys/descriptor_messages.h"
#include "wire/sudo.pb.h"

namespace paddock::agent::sudo {
namespace {

constexpr size_t kMaxRunning = 512;
constexpr size_t kDescriptors = 4;
constexpr time_t kPatienceSeconds = 10;

struct Asked {
  wire::SudoRequest request;
  std::vector<sys::Fd> fds;
};

Status set_patience(const sys::Fd& socket, time_t seconds) {
  const timeval time{.tv_sec = seconds, .tv_usec = 0};
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) == 0) return {};
  return Error::from_errno(errno, "bounding the wait for a request");
}

Result<Asked> receive_request(const sys::Fd& client) {
  auto head = PD_TRY(sys::receive_with_descriptors(client, kMaxSudoRecord));
  uint32_t length = 0;
  if (head.bytes.size() != sizeof length || head.fds.size() != kDescriptors) {
    return Error(Code::data_corrupt, "no request");
  }
  std::memcpy(&length, head.bytes.data(), sizeof length);
  if (length > kMaxRequest) return Error(Code::data_corrupt, "a request that is too long");
  std::string body;
  while (body.size() < length) {
    auto part = PD_TRY(sys::receive_with_descriptors(client, kMaxSudoRecord));
    if (part.bytes.empty()) return Error(Code::unavailable, "the request is cut short");
    body += part.bytes;
  }
  Asked asked;
  asked.fds = std::move(head.fds);
  if (body.size() != length || !asked.request.ParseFromString(body)) {
    return Error(Code::data_corrupt, "no request");
  }
  return asked;
}

Result<std::unique_ptr<LaunchPlan>> plan_of(Asked asked, const wire::Setup& setup) {
  wire::Start start = setup.sudo();
  *start.mutable_argv() = asked.request.argv();
  *start.mutable_environment() = asked.request.environment();
  start.set_directory(asked.request.directory());
  start.mutable_user()->set_uid(asked.request.uid());
  start.mutable_user()->set_gid(asked.request.gid());
  *start.mutable_user()->mutable_groups() = asked.request.groups();
  auto plan = PD_TRY(LaunchPlan::make(start, setup));
  for (size_t i = 0; i < 3; ++i) plan->streams[i] = std::move(asked.fds[i]);
  plan->from_directory = std::move(asked.fds[3]);
  return plan;
}

Result<std::unique_ptr<LaunchPlan>> take(const sys::Fd& client, const wire::Setup& setup) {
  PD_TRY(set_patience(client, kPatienceSeconds));
  Asked asked = PD_TRY(receive_request(client));  // whole: what is left unread resets the answer
  PD_TRY(set_patience(client, 0));
  const uid_t asker = PD_TRY(sys::peer_user(client));
  if (asker != 0 && asker != setup.uid()) {
    return Error::from_errno(EPERM, "asking for another user");
  }
  return plan_of(std::move(asked), setup);
}

// The body of the forked process.
[[noreturn]] void serve(sys::SocketFd client, const wire::Setup& setup) {
  // Copies of other commands' pipes must not outlive their owners.
  close_all_but({client.get()});
  auto plan = take(client, setup);
  if (plan.ok()) supervise(**plan, std::move(client));
  const Report refused{.kind = Report::Kind::failed, .error = plan.error().errno_value()};
  (void)::send(client.get(), &refused, sizeof refused, MSG_NOSIGNAL);
  ::_exit(0);
}

}  // namespace

Result<Service> Service::open(const wire::Setup& setup) {
  if (::mkdir(kSocketDirectory, 0755) != 0 && errno != EEXIST) {
    return Error::from_errno(errno, "making /run/paddock");
  }
  return Service(PD_TRY(sys::listen_for_records(kSocketPath, 0666)), setup);
}

void Service::on_ready(const OomScore& oom) {
  sys::SocketFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!client.is_open() || running_.size() >= kMaxRunning) return;
  // SAFETY: as for the supervisors of commands (Command::fork_supervisor).
  const OomScore::Raised raised(oom);
  const pid_t pid = ::fork();
  if (pid == 0) serve(std::move(client), setup_);
  if (pid > 0) running_.insert(pid);
}

}  // namespace paddock::agent::sudo
