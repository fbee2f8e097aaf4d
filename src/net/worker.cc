#include "net/worker.h"

namespace paddock::net {

Worker::Worker() : thread_([this] { work(); }) {}

Worker::~Worker() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  news_.notify_one();
  thread_.join();
}

void Worker::post(std::function<void()> function) {
  {
    std::lock_guard lock(mutex_);
    queue_.push_back(std::move(function));
  }
  news_.notify_one();
}

void Worker::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    news_.wait(lock, [this] { return ending_ || !queue_.empty(); });
    if (queue_.empty()) return;
    auto function = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    function();
    function = nullptr;  // what it holds goes away without the lock
    lock.lock();
  }
}

}  // namespace paddock::net
