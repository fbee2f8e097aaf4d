#include "isolation/handshake.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "base/strings.h"
#include "sys/clock.h"
#include "wire/build_id.h"
#include "wire/channel.h"

namespace paddock::isolation {
namespace {

class Conversation {
 public:
  Conversation(const sys::SocketFd& stream, int timeout_ms)
      : stream_(stream), end_us_(sys::monotonic_us() + int64_t{timeout_ms} * 1000) {}

  Status send(const wire::ToAgent& message) {
    PD_TRY(channel_.send(message));
    while (!channel_.output().empty()) {
      PD_TRY(wait(POLLOUT));
      ssize_t n = ::write(stream_.get(), channel_.output().data(), channel_.output().size());
      if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (n < 0) return Error::from_errno(errno, "talking to the agent");
      channel_.written(static_cast<size_t>(n));
    }
    return {};
  }

  Result<wire::ToHost> next() {
    std::array<char, 65536> buffer;
    while (true) {
      if (auto event = channel_.next_event()) {
        if (auto* message = std::get_if<wire::ToHost>(&*event)) return std::move(*message);
        return Error(Code::data_corrupt, "the agent sent stream data before a command was started");
      }
      PD_TRY(wait(POLLIN));
      ssize_t n = ::read(stream_.get(), buffer.data(), buffer.size());
      if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (n < 0) return Error::from_errno(errno, "listening to the agent");
      if (n == 0) return Error(Code::unavailable, "the agent is gone");
      PD_TRY(channel_.receive({buffer.data(), static_cast<size_t>(n)}));
    }
  }

 private:
  Status wait(short events) {
    struct pollfd ready {
      stream_.get(), events, 0
    };
    int64_t left_ms = (end_us_ - sys::monotonic_us()) / 1000;
    int n = left_ms > 0 ? ::poll(&ready, 1, static_cast<int>(left_ms)) : 0;
    if (n > 0 || (n < 0 && errno == EINTR)) return {};
    if (n == 0) return Error(Code::timed_out, "the agent does not answer");
    return Error::from_errno(errno, "waiting for the agent");
  }

  const sys::SocketFd& stream_;
  int64_t end_us_;
  wire::HostChannel channel_;
};

}  // namespace

Result<wire::Evidence> introduce(const Sandbox& sandbox, int timeout_ms) {
  Conversation conversation(sandbox.stream(), timeout_ms);
  wire::ToHost hello = PD_TRY(conversation.next());
  if (!hello.has_hello() || hello.hello().build_id() != wire::build_id()) {
    return Error(Code::failed_precondition, "paddock-agent is of another build than paddock")
        .set_remedy("install both from one build");
  }
  wire::ToAgent message;
  message.set_request(1);
  *message.mutable_setup() = sandbox.setup();
  message.mutable_setup()->set_build_id(std::string(wire::build_id()));
  PD_TRY(conversation.send(message));
  wire::ToHost answer = PD_TRY(conversation.next());
  if (answer.has_failure()) {
    return Error(Code::internal, "the agent: " + printable(answer.failure().message()));
  }
  if (!answer.has_evidence()) return Error(Code::data_corrupt, "the agent reported no evidence");
  return answer.evidence();
}

}  // namespace paddock::isolation
