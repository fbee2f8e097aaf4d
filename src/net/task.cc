#include "net/task.h"

#include <signal.h>

#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include <vector>

#include "net/task_impl.h"

namespace paddock::net {
namespace {

// Touched pages are what counts; the rest is address space with a guard page below.
constexpr size_t kStack = 256 * 1024;

// Under ASan a stack starts clean: what stood at its addresses before may have been left by an
// exception, or by a thread, with the marks of its frames.
class Stack {
 public:
  boost::context::stack_context allocate() {
    auto made = pages_.allocate();
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(static_cast<char*>(made.sp) - made.size, made.size);
#endif
    return made;
  }
  void deallocate(boost::context::stack_context& made) {
    pages_.deallocate(made);
  }

 private:
  boost::context::protected_fixedsize_stack pages_{kStack};
};

struct Sleep : Waitable {
  Sleep(Loop& loop, std::chrono::milliseconds time)
      : Waitable(loop), timer(loop.impl().context, time) {}
  void cancel_waits() override { timer.cancel(); }
  boost::asio::steady_timer timer;
};

}  // namespace

void Task::sleep(std::chrono::milliseconds time) {
  Sleep sleep(impl_.loop, time);
  boost::system::error_code ignored;
  if (!impl_.loop.is_ending()) sleep.timer.async_wait(impl_.yield[ignored]);
}

void Task::yield() {
  boost::asio::post(impl_.yield);
}

Loop::Loop() : impl_(std::make_unique<Impl>()) {
  impl_->thread = std::thread([this] {
    // Moving bytes to a peer that is gone (sys/splice.h) raises it.
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    impl_->context.run();
  });
}

Loop::~Loop() {
  post([impl = impl_.get()] {
    impl->ending = true;
    std::vector<Waitable*> all;
    {
      std::lock_guard lock(impl->mutex);
      all.assign(impl->waitables.begin(), impl->waitables.end());
    }
    // Cancelling only queues: none of them goes away in between.
    for (Waitable* waitable : all) waitable->cancel_waits();
  });
  impl_->work.reset();
  impl_->thread.join();
}

bool Loop::is_ending() const {
  return impl_->ending;
}

Waitable::Waitable(Loop& loop) : loop_(loop) {
  std::lock_guard lock(loop.impl().mutex);
  loop.impl().waitables.insert(this);
}

Waitable::~Waitable() {
  std::lock_guard lock(loop_.impl().mutex);
  loop_.impl().waitables.erase(this);
}

void Loop::spawn(Body body) {
  boost::asio::spawn(
      impl_->context, std::allocator_arg, Stack(),
      [this, body = std::move(body)](boost::asio::yield_context yield) {
        Task::Impl impl{yield, *this};
        Task task(impl);
        body(task);
      },
      boost::asio::detached);
}

void Loop::post(std::function<void()> function) {
  boost::asio::post(impl_->context, std::move(function));
}

bool Loop::is_own_thread() const {
  return std::this_thread::get_id() == impl_->thread.get_id();
}

Loop& loop_of(Task& task) {
  return task.impl().loop;
}

}  // namespace paddock::net
