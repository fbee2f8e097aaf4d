#include "cmd/client/input_pump.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "sys/pipe.h"

namespace paddock::cmd {
namespace {

constexpr size_t kPiece = 64u << 10;

}  // namespace

Result<std::unique_ptr<InputPump>> InputPump::start(model::HostPath home, std::string target,
                                                    int from, Keys keys) {
  sys::Pipe pipe = PD_TRY(sys::make_pipe());
  sys::Pipe detached = PD_TRY(sys::make_pipe());
  std::unique_ptr<InputPump> pump(new InputPump());
  pump->home_ = std::move(home);
  pump->target_ = std::move(target);
  pump->from_ = from;
  pump->keys_ = keys;
  pump->detached_read_ = std::move(detached.read);
  pump->detached_write_ = std::move(detached.write);
  pump->wake_read_ = std::move(pipe.read);
  pump->wake_write_ = std::move(pipe.write);
  pump->thread_ = std::thread([raw = pump.get()] { raw->run(); });
  return pump;
}

InputPump::~InputPump() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
    if (current_ != nullptr) current_->shut_down();
  }
  wake_write_.reset();
  thread_.join();
}

void InputPump::run() {
  std::string piece(kPiece, '\0');
  while (true) {
    struct pollfd waiting[2] = {{from_, POLLIN, 0}, {wake_read_.get(), POLLIN, 0}};
    if (::poll(waiting, 2, -1) < 0 && errno == EINTR) continue;
    if (waiting[1].revents != 0) return;
    const ssize_t count = ::read(from_, piece.data(), piece.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) {
      (void)end();
      return;
    }
    std::string bytes = piece.substr(0, static_cast<size_t>(count));
    if (keys_ == Keys::detach) bytes = typed_.pass(bytes);
    if (!bytes.empty() && !send(std::move(bytes))) return;
    if (typed_.were_typed()) {
      detached_write_.reset();
      return;
    }
  }
}

bool InputPump::send(std::string bytes) {
  return perform({"POST", target_, std::move(bytes), "application/octet-stream", -1, 0});
}

bool InputPump::end() {
  return perform({"POST", target_ + "?end=1", "", "application/octet-stream", -1, 0});
}

bool InputPump::perform(const DaemonCall::Request& request) {
  auto call = DaemonCall::start(home_, request);
  if (!call.ok()) return false;
  {
    std::lock_guard lock(mutex_);
    if (ending_) return false;
    current_ = &*call;
  }
  // An error is about a command that reads no more: its output goes on.
  const bool taken = call->check().ok();
  std::lock_guard lock(mutex_);
  current_ = nullptr;
  return taken;
}

}  // namespace paddock::cmd
