// What Task and Loop are made of. Only units of net/ include this: it brings in Asio.
#pragma once

#define BOOST_ASIO_DISABLE_BOOST_COROUTINE 1
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/spawn.hpp>
#include <mutex>
#include <set>
#include <thread>

#include "net/task.h"

namespace paddock::net {

struct Task::Impl {
  boost::asio::yield_context yield;
  Loop& loop;
};

// Something that a coroutine can wait in. Lives on the loop's thread, but for its making.
class Waitable {
 public:
  explicit Waitable(Loop& loop);
  virtual ~Waitable();
  Waitable(const Waitable&) = delete;
  Waitable& operator=(const Waitable&) = delete;
  virtual void cancel_waits() = 0;

  Loop& loop() const { return loop_; }

 private:
  Loop& loop_;
};

struct Loop::Impl {
  boost::asio::io_context context{1};  // one thread runs it
  std::mutex mutex;                    // of waitables: they are made on any thread
  std::set<Waitable*> waitables;
  bool ending = false;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      context.get_executor()};
  std::thread thread;
};

}  // namespace paddock::net
