// One started command, as the agent sees it: its supervisor, its streams, and how it ended.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/input_stream.h"
#include "agent/oom_score.h"
#include "agent/output_ring.h"
#include "agent/output_stream.h"
#include "agent/supervisor_messages.h"
#include "agent/timers.h"
#include "base/result.h"
#include "sys/epoll.h"
#include "sys/fd.h"
#include "wire/channel.h"

namespace paddock::agent {

// Which descriptor of a command an event is about.
enum class CommandEvent : uint32_t { supervisor, input, output, error };

// What commands share with the agent's loop; outlives them.
struct Loop {
  wire::AgentChannel& channel;
  sys::Epoll& epoll;
  Timers& timers;
  const OomScore& oom;
  OutputRing::Budget& kept_output;
  const wire::Setup& setup;
};

// From Start to Ended, and beyond that as long as processes are left that were to be kept. Lives in
// the agent's only loop.
//
//   starting → running → main ended → tree ended (or kept) → outputs ended → over
class Command {
 public:
  // Forks the supervisor. `token_base` plus a CommandEvent is the token of its events. On an error
  // nothing runs and every stream that `start` names is closed.
  static Result<std::unique_ptr<Command>> start(const wire::ToAgent& message, const Loop& loop,
                                                uint64_t token_base);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  pid_t supervisor() const { return supervisor_pid_; }
  bool owns(wire::StreamId stream) const;

  void on_event(CommandEvent which);
  void on_stream(const wire::StreamData& data);
  void on_stream(const wire::StreamEnd& end);
  void on_stream(const wire::StreamReset& reset);
  void on_timer(TimerKind kind);
  // It goes on: one whose output is kept for the next host, which can attach to it; any other
  // unheard, at the end of its input.
  void on_host_gone();
  // Whether it is to be known to a host that comes back.
  bool is_kept() const { return ring_ != nullptr && !failed_; }
  wire::CommandState state() const;
  // It is over: lets go of every descriptor.
  void settle();
  size_t kept_bytes() const { return ring_ == nullptr ? 0 : ring_->size(); }
  void drop_kept_output() { ring_->clear(); }
  // failed_precondition: a host is attached already. On an error its streams are closed.
  Result<wire::Attached> attach(const wire::Attach& request);

  Status signal(const wire::Signal& request);
  Status resize(const wire::Terminal& size);

  // Moves bytes; returns whether more could be moved at once.
  bool pump(size_t room);
  void on_supervisor_reaped() { supervisor_reaped_ = true; }
  // Its supervisor died before its tree: somebody inside has killed it. The tree is PID 1's now.
  bool is_orphaned() const { return orphaned_; }
  // The kernel closes a dying process's descriptors before it gives its children away.
  bool are_orphans_adopted() const { return supervisor_reaped_; }
  // What was left of an orphaned tree is dead.
  void on_orphans_gone();
  // All but the report is done: Ended may be sent, once.
  bool is_ready_to_end() const;
  void send_end();
  // Nothing of it is left, and Ended was sent or waits for a host that attaches.
  bool is_over() const { return tree_gone_ && (end_sent_ || (!attached_ && has_ended())); }

 private:
  Command(const wire::ToAgent& message, const Loop& loop);
  Status fork_supervisor(const wire::Start& start);
  struct ChildEnds;
  Status connect(const wire::Start& start, ChildEnds& ends);
  Status watch(uint64_t token_base);

  void read_reports();
  void on_report(const Report& report);
  void report_started(pid_t pid);
  void on_failure(const Report& report);
  void on_main_ended(const Report& report);
  void on_tree_gone();
  void on_supervisor_lost();
  void finish_outputs(OutputStream::AfterEnd after);
  void order(Order order);
  void kill_tree(wire::Ended::How why);
  OutputStream* output_of(wire::StreamId stream);
  bool has_ended() const;
  bool replay(size_t room);
  void finish_replay();

  Loop loop_;
  uint32_t id_;
  uint64_t request_;
  wire::StreamId streams_[3];  // as Start names them; 0: none
  bool terminal_;
  bool keep_leftovers_;
  uint64_t timeout_ms_;

  pid_t supervisor_pid_ = 0;
  sys::SocketFd supervisor_;
  std::optional<InputStream> input_;
  std::unique_ptr<OutputRing> ring_;   // where output is kept
  std::vector<OutputStream> outputs_;  // at most two
  std::string note_;
  OutputBudget budget_;

  bool attached_ = true;              // to the host's stream
  std::optional<uint64_t> replayed_;  // sequence number of what goes from the ring to the host next
  pid_t pid_ = 0;
  bool started_ = false;
  bool main_ended_ = false;
  bool tree_gone_ = false;
  bool kept_ = false;  // leftovers live on
  bool orphaned_ = false;
  bool supervisor_reaped_ = false;
  bool end_sent_ = false;
  bool failed_ = false;  // Failure was sent instead of Started; no Ended follows
  std::optional<wire::Ended::How> killed_for_;
  wire::Ended ended_;
};

}  // namespace paddock::agent
