#include "net/event.h"

#include <boost/asio/steady_timer.hpp>

#include "net/task_impl.h"

namespace paddock::net {

struct Event::Impl : Waitable {
  explicit Impl(Loop& l)
      : Waitable(l), timer(l.impl().context, boost::asio::steady_timer::time_point::max()) {}
  void cancel_waits() override { timer.cancel(); }

  boost::asio::steady_timer timer;  // expires never; cancelled to wake who waits
  bool set = false;
};

Event::Event(Loop& loop) : impl_(new Impl(loop)) {}
Event::~Event() = default;

void Event::set() {
  impl_->set = true;
  impl_->timer.cancel();
}

bool Event::is_set() const {
  return impl_->set;
}

void Event::wait(Task& task) {
  boost::system::error_code ignored;
  while (!impl_->set && !loop_of(task).is_ending()) {
    impl_->timer.async_wait(task.impl().yield[ignored]);
  }
}

void Event::wait_surely(Task& task) {
  while (!impl_->set) {
    wait(task);
    if (!impl_->set) task.yield();
  }
}

Event::Outcome Event::wait_for(Task& task, std::chrono::milliseconds time) {
  if (impl_->set) return Outcome::set;
  // The event may have other waiters; they look at `set` and wait on.
  bool expired = false;
  Deadline deadline(loop_of(task), time, [&] {
    expired = true;
    impl_->timer.cancel();
  });
  boost::system::error_code ignored;
  while (!impl_->set && !expired && !loop_of(task).is_ending()) {
    impl_->timer.async_wait(task.impl().yield[ignored]);
  }
  return impl_->set ? Outcome::set : Outcome::timed_out;
}

struct Deadline::Impl {
  boost::asio::steady_timer timer;
  std::function<void()> expire;
  State state = State::armed;
};

Deadline::Deadline(Loop& loop, std::chrono::milliseconds time, std::function<void()> expire)
    : impl_(new Impl{boost::asio::steady_timer(loop.impl().context, time), std::move(expire)}) {
  impl_->timer.async_wait([impl = impl_](const boost::system::error_code&) {
    if (impl->state != State::armed) return;
    impl->state = State::expired;
    impl->expire();
  });
}

Deadline::~Deadline() {
  disarm();
}

bool Deadline::expired() const {
  return impl_->state == State::expired;
}

Deadline::State Deadline::disarm() {
  const State was = impl_->state;
  if (was == State::armed) {
    impl_->state = State::disarmed;
    impl_->timer.cancel();
  }
  return was;
}

Turnstile::Turn Turnstile::enter(Task& task) {
  if (!taken_) {
    taken_ = true;
    return Turn(*this);
  }
  auto event = std::make_shared<Event>(loop_);
  waiting_.push_back(event);
  event->wait(task);  // the one that leaves hands its turn over
  return Turn(*this);
}

void Turnstile::leave() {
  if (waiting_.empty()) {
    taken_ = false;
    return;
  }
  waiting_.front()->set();
  waiting_.pop_front();
}

}  // namespace paddock::net
