// Waiting of one coroutine for another.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "net/task.h"

namespace paddock::net {

// Set once; waiting returns at once from then on, and when the loop ends. Used on its loop's thread
// only, but for its making.
class Event {
 public:
  explicit Event(Loop& loop);
  ~Event();

  void set();
  bool is_set() const;
  void wait(Task& task);
  // Returns only once it is set. Whoever sets it must come to that when the loop ends, too.
  void wait_surely(Task& task);
  enum class Outcome { set, timed_out };
  Outcome wait_for(Task& task, std::chrono::milliseconds time);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Calls a function on the loop's thread when its time is up, unless it was disarmed or is gone: the
// function may refer to what outlives the Deadline.
class Deadline {
 public:
  enum class State { armed, expired, disarmed };

  Deadline(Loop& loop, std::chrono::milliseconds time, std::function<void()> expire);
  ~Deadline();

  // What it was until now.
  State disarm();
  bool expired() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// Lets one coroutine in at a time, in order of arrival.
class Turnstile {
 public:
  explicit Turnstile(Loop& loop) : loop_(loop) {}

  class Turn {
   public:
    explicit Turn(Turnstile& turnstile) : turnstile_(&turnstile) {}
    Turn(Turn&& other) noexcept : turnstile_(std::exchange(other.turnstile_, nullptr)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (turnstile_ != nullptr) turnstile_->leave();
    }

   private:
    Turnstile* turnstile_;
  };
  [[nodiscard]] Turn enter(Task& task);
  bool is_taken() const { return taken_; }

 private:
  void leave();

  Loop& loop_;
  bool taken_ = false;
  std::deque<std::shared_ptr<Event>> waiting_;
};

}  // namespace paddock::net
