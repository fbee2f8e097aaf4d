#include "net/http/input_buffer.h"

#include <array>
#include <utility>

namespace paddock::net::http {
namespace {

constexpr size_t kReadAtATime = 16u << 10;  // on the coroutine's stack
// More than the longest head, or a client could never finish sending one.
constexpr size_t kMaxWaiting = 128u << 10;

}  // namespace

InputBuffer::InputBuffer(Loop& loop, std::shared_ptr<Stream> stream)
    : loop_(loop), stream_(std::move(stream)), changed_(loop), room_(loop) {}

void InputBuffer::start() {
  loop_.spawn([self = shared_from_this()](Task& task) { self->read(task); });
}

void InputBuffer::read(Task& task) {
  while (!loop_.is_ending()) {
    // No buffer is held while nothing comes: most connections idle.
    if (!stream_->wait_readable(task).ok()) break;
    std::array<char, kReadAtATime> piece;
    auto count = stream_->read(task, piece);
    if (!count.ok() || *count == 0) break;
    buffer_.append(piece.data(), *count);
    changed_.notify_all();
    while (bytes().size() >= kMaxWaiting && !loop_.is_ending()) room_.wait(task);
  }
  ended_ = true;
  changed_.notify_all();
  if (auto notify = std::exchange(notify_, nullptr)) notify();
}

void InputBuffer::take(size_t count) {
  taken_ += count;
  if (taken_ == buffer_.size()) {
    buffer_.clear();
    if (buffer_.capacity() > kReadAtATime) buffer_.shrink_to_fit();
    taken_ = 0;
  } else if (taken_ >= kMaxWaiting) {
    buffer_.erase(0, taken_);
    taken_ = 0;
  }
  if (bytes().size() < kMaxWaiting) room_.notify_all();
}

void InputBuffer::wait_for_more(Task& task, size_t known, std::chrono::milliseconds time) {
  if (bytes().size() > known || ended_) return;
  changed_.wait_for(task, time);
}

void InputBuffer::on_end(std::function<void()> notify) {
  if (ended_ && notify) {
    notify();
  } else {
    notify_ = std::move(notify);
  }
}

}  // namespace paddock::net::http
