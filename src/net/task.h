// Coroutines with stacks of their own. Code in one reads as straight, blocking code; where it
// waits, the loop's thread goes on with others. No Asio is seen here.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace paddock::net {

// The coroutine that is running, passed to everything that may wait. Only its own code uses it, by
// reference, and nobody keeps it.
class Task {
 public:
  struct Impl;
  explicit Task(Impl& impl) : impl_(impl) {}
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // Shorter when the loop ends.
  void sleep(std::chrono::milliseconds time);
  // Lets others run, without waiting for anything.
  void yield();

  Impl& impl() { return impl_; }

 private:
  Impl& impl_;
};

// One thread that runs coroutines. They see no other thread: what only they touch needs no lock.
// Destroying it ends every wait (streams fail, events and sleeps return) and waits for the
// coroutines to return; stacks are never unwound by exceptions, which sanitizers cannot follow
// across them.
class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  using Body = std::function<void(Task&)>;
  // Thread-safe. The body must not throw.
  void spawn(Body body);
  // Thread-safe: runs the function on the loop's thread, after what is ready there.
  void post(std::function<void()> function);
  bool is_own_thread() const;
  // On its own thread: whether it is being destroyed.
  bool is_ending() const;

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// The loop of the coroutine that is running.
Loop& loop_of(Task& task);

}  // namespace paddock::net
