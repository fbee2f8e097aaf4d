#include "agent/output_stream.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

namespace paddock::agent {
namespace {

constexpr size_t kMaxPipeRead = 64u << 10;
constexpr int kChunksAtATime = 4;

// Bytes that wait in a pipe. A terminal's master does not say: its end is EIO or nothing to read.
size_t waiting_in(const sys::Fd& fd) {
  struct stat info {};
  int count = 0;
  const bool pipe = ::fstat(fd.get(), &info) == 0 && S_ISFIFO(info.st_mode);
  if (!pipe || ::ioctl(fd.get(), FIONREAD, &count) != 0) return std::numeric_limits<size_t>::max();
  return static_cast<size_t>(count);
}

}  // namespace

size_t OutputStream::allowance(const wire::AgentChannel& channel, const OutputBudget& budget,
                               size_t room) const {
  if (ended_ || budget.exceeded) return kMaxPipeRead;  // to be dropped
  size_t allowed = kMaxPipeRead;
  if (stream_ != 0) allowed = std::min({kMaxPipeRead, channel.sendable(stream_), room});
  if (rest_) allowed = std::min(allowed, *rest_);
  // One byte beyond the limit tells a command that reached it from one that exceeded it.
  if (budget.left) allowed = std::min<uint64_t>(allowed, *budget.left + 1);
  return allowed;
}

void OutputStream::take(wire::AgentChannel& channel, OutputBudget& budget, std::string_view bytes) {
  if (rest_) *rest_ -= std::min(*rest_, bytes.size());
  if (ended_ || budget.exceeded) return;
  if (budget.left && bytes.size() > *budget.left) {
    budget.exceeded = true;
    bytes = bytes.substr(0, *budget.left);
  }
  if (budget.left) *budget.left -= bytes.size();
  if (keep_.ring != nullptr) keep_.ring->append(keep_.output, bytes);
  if (stream_ != 0) channel.send_data(stream_, bytes);
}

bool OutputStream::pump(wire::AgentChannel& channel, OutputBudget& budget, size_t room) {
  static std::array<char, kMaxPipeRead> buffer;  // the agent's loop is the only user
  for (int i = 0; i < kChunksAtATime && fd_.is_open(); ++i) {
    if (rest_ == 0 && !ended_) end(channel);
    if (!readable_ || !fd_.is_open()) return false;
    const size_t allowed = allowance(channel, budget, room);
    if (allowed == 0) return false;
    const ssize_t n = ::read(fd_.get(), buffer.data(), allowed);
    if (n > 0) {
      take(channel, budget, {buffer.data(), static_cast<size_t>(n)});
      room -= std::min(room, static_cast<size_t>(n));
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    readable_ = false;
    const bool nothing_now = n < 0 && errno == EAGAIN;
    if (nothing_now && !rest_) return false;
    if (!nothing_now) after_end_ = AfterEnd::close;  // its writers are gone
    end(channel);
  }
  return fd_.is_open() && readable_;
}

void OutputStream::finish(AfterEnd after) {
  if (!fd_.is_open()) return;
  after_end_ = after;
  rest_ = waiting_in(fd_);
  readable_ = true;
}

void OutputStream::mute() {
  ended_ = true;
  rest_.reset();
  after_end_ = AfterEnd::drop;
  readable_ = true;
}

void OutputStream::detach() {
  stream_ = 0;
  readable_ = true;  // it may have waited for credit
}

void OutputStream::attach(wire::StreamId stream, wire::AgentChannel& channel) {
  stream_ = stream;
  readable_ = true;
  if (ended_) channel.end_stream(stream_);
}

void OutputStream::abandon(wire::AgentChannel& channel) {
  after_end_ = AfterEnd::close;
  end(channel);
}

// Also called for a second end: that of a descriptor whose rest was dropped.
void OutputStream::end(wire::AgentChannel& channel) {
  if (!ended_) channel.end_stream(stream_);
  ended_ = true;
  rest_.reset();
  if (after_end_ == AfterEnd::close) fd_.reset();
}

}  // namespace paddock::agent
