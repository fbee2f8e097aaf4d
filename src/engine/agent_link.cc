#include "engine/agent_link.h"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "sys/clock.h"

namespace paddock::engine {
namespace {

constexpr size_t kReadBytes = 128u << 10;

}  // namespace

Status AgentLink::flush() {
  while (wants_to_write()) {
    std::string_view bytes = channel_.output();
    ssize_t n = ::write(stream_.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return {};
    if (n < 0) return Error::from_errno(errno, "talking to the agent");
    channel_.written(static_cast<size_t>(n));
  }
  return {};
}

Status AgentLink::fill() {
  // Not on the stack: a coroutine's is no larger than this.
  static thread_local std::array<char, kReadBytes> buffer;
  while (true) {
    ssize_t n = ::read(stream_.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return {};
    if (n < 0) return Error::from_errno(errno, "listening to the agent");
    if (n == 0) return Error(Code::unavailable, "the agent is gone");
    // One read a call: a flood from inside must be taken event by event, not gathered.
    return channel_.receive({buffer.data(), static_cast<size_t>(n)});
  }
}

Status AgentLink::post(wire::ToAgent message) {
  message.set_request(++last_request_);
  return channel_.send(message);
}

Result<wire::ToHost> AgentLink::next_message(int timeout_ms) {
  int64_t end = sys::monotonic_us() + int64_t{timeout_ms} * 1000;
  while (true) {
    if (auto event = channel_.next_event()) {
      if (auto* message = std::get_if<wire::ToHost>(&*event)) return std::move(*message);
      return Error(Code::data_corrupt, "the agent sent stream data before a command was started");
    }
    PD_TRY(flush());
    int64_t left = (end - sys::monotonic_us()) / 1000;
    if (left <= 0) return Error(Code::timed_out, "the agent does not answer");
    struct pollfd waiting {
      stream_.get(), static_cast<short>(POLLIN | (wants_to_write() ? POLLOUT : 0)), 0
    };
    if (::poll(&waiting, 1, static_cast<int>(left)) < 0 && errno != EINTR) {
      return Error::from_errno(errno, "waiting for the agent");
    }
    if ((waiting.revents & (POLLIN | POLLHUP | POLLERR)) != 0) PD_TRY(fill());
  }
}

Result<wire::ToHost> AgentLink::call(wire::ToAgent message, int timeout_ms) {
  PD_TRY(post(std::move(message)));
  wire::ToHost answer = PD_TRY(next_message(timeout_ms));
  if (answer.request() != last_request_) {
    return Error(Code::data_corrupt, fmt::format("the agent answered request {} instead of {}",
                                                 answer.request(), last_request_));
  }
  if (answer.has_failure()) {
    return Error(Code::internal, "the agent: " + printable(answer.failure().message()));
  }
  return answer;
}

}  // namespace paddock::engine
