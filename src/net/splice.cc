#include "net/splice.h"

#include <fcntl.h>

#include <utility>
#include <vector>

#include "net/both_ways.h"
#include "net/burst.h"
#include "sys/pipe.h"
#include "sys/splice.h"

namespace paddock::net {
namespace {

constexpr int kCapacity = 256 * 1024;
constexpr size_t kKeptPipes = 32;

// A pipe that bytes stay in on their way; held only while they flow. Belongs to the loop's thread.
class Passage {
 public:
  static Result<Passage> take() {
    if (!spare().empty()) {
      Passage kept(std::move(spare().back()));
      spare().pop_back();
      return kept;
    }
    sys::Pipe pipe = PD_TRY(sys::make_pipe());
    // As much as the user's share of pipe memory allows; less is slower and no worse.
    fcntl(pipe.write.get(), F_SETPIPE_SZ, kCapacity);
    return Passage(std::move(pipe));
  }
  Passage(Passage&&) noexcept = default;
  Passage& operator=(Passage&&) = delete;
  // One with bytes left in it would give them to another connection.
  ~Passage() {
    if (pipe_.read.is_open() && held_ == 0 && spare().size() < kKeptPipes)
      spare().push_back(std::move(pipe_));
  }

  // nullopt: nothing has come; 0: the stream has ended.
  Result<std::optional<size_t>> fill(SocketStream& from) {
    auto count = PD_TRY(sys::splice_bytes(from.fd(), pipe_.write.get(), kCapacity));
    held_ = count.value_or(0);
    return count;
  }
  Status empty(Task& task, SocketStream& to) {
    while (held_ > 0) {
      const auto moved = PD_TRY(sys::splice_bytes(pipe_.read.get(), to.fd(), held_));
      if (!moved) PD_TRY(to.wait_writable(task));
      held_ -= moved.value_or(0);
    }
    return {};
  }

 private:
  explicit Passage(sys::Pipe pipe) : pipe_(std::move(pipe)) {}

  static std::vector<sys::Pipe>& spare() {
    thread_local std::vector<sys::Pipe> pipes;
    return pipes;
  }

  sys::Pipe pipe_;
  size_t held_ = 0;
};

Result<Flow> splice_burst(Task& task, SocketStream& from, SocketStream& to, const Meter& meter) {
  Passage passage = PD_TRY(Passage::take());
  for (int run = 1;; ++run) {
    const auto count = PD_TRY(passage.fill(from));
    if (!count) return Flow::paused;
    if (*count == 0) return Flow::ended;
    PD_TRY(meter(*count));
    PD_TRY(passage.empty(task, to));
    if (run % kRunsBeforeOthers == 0) task.yield();
  }
}

Status splice_one_way(Task& task, SocketStream& from, SocketStream& to, const Meter& meter) {
  while (true) {
    PD_TRY(from.wait_readable(task));
    if (PD_TRY(splice_burst(task, from, to, meter)) == Flow::ended) return to.end_writing(task);
  }
}

}  // namespace

Status splice_both_ways(Task& task, SocketStream& a, SocketStream& b, const Meters& meters) {
  return both_ways(
      task, a, b, [&](Task& t) { return splice_one_way(t, a, b, meters.a_to_b); },
      [&](Task& t) { return splice_one_way(t, b, a, meters.b_to_a); });
}

}  // namespace paddock::net
