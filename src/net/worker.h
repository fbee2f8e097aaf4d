// A thread for what blocks: system calls without a non-blocking form, a database, waits for a
// child.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "net/event.h"

namespace paddock::net {

// Runs functions one after another, in the order in which they were given. What only they touch
// needs no lock. Destroying it lets the queue run out first. Thread-safe.
class Worker {
 public:
  Worker();
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void post(std::function<void()> function);

  // The coroutine waits, others go on. Returns only when the function has, even if the loop ends
  // meanwhile: it may refer to the caller's variables.
  template <typename F>
  auto run(Task& task, F function) -> decltype(function()) {
    Event done(loop_of(task));
    std::optional<decltype(function())> result;
    post([&, loop = &loop_of(task)] {
      result.emplace(function());
      loop->post([&done] { done.set(); });
    });
    done.wait_surely(task);
    return std::move(*result);
  }

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<std::function<void()>> queue_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace paddock::net
