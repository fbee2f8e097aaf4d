// Everything the agent waits for by time, behind one timer descriptor.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/result.h"
#include "sys/timer_fd.h"

namespace paddock::agent {

enum class TimerKind : uint32_t {
  sandbox_deadline,
  command_timeout,
  leftover_grace,   // what still holds a command's output may finish until then
  kill_escalation,  // a supervisor that has not killed its tree by then is killed itself
  orphan_round,
  denial_report,
};

// Times are CLOCK_BOOTTIME. Not thread-safe.
class Timers {
 public:
  struct Key {
    TimerKind kind;
    uint32_t command = 0;  // 0: the sandbox
    auto operator<=>(const Key&) const = default;
  };

  static Result<Timers> open();

  const sys::Fd& fd() const { return timer_.fd(); }
  void set_in_ms(Key key, uint64_t ms);  // replaces one that is set
  bool is_set(Key key) const { return due_.contains(key); }
  void cancel(Key key);
  void cancel_all_of(uint32_t command);
  // Those whose time has come; they are no longer set.
  std::vector<Key> take_due();

 private:
  explicit Timers(sys::TimerFd timer) : timer_(std::move(timer)) {}
  void arm();

  sys::TimerFd timer_;
  std::map<Key, int64_t> due_;
  int64_t armed_at_ = 0;  // 0: not armed
};

}  // namespace paddock::agent
