// The agent: one loop over the host's byte stream, the commands' descriptors, refusals and time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "agent/asker.h"
#include "agent/command.h"
#include "agent/ended_commands.h"
#include "agent/name_queries.h"
#include "agent/refusals.h"
#include "agent/stand_still.h"
#include "agent/sudo/service.h"
#include "agent/timers.h"
#include "agent/way_in.h"
#include "agent/way_out.h"
#include "base/result.h"
#include "sys/epoll.h"
#include "sys/fd.h"
#include "sys/signal_fd.h"
#include "wire/channel.h"

namespace paddock::agent {

// Owns everything the agent has. Runs in the first process of a pid namespace, whose end is the end
// of all others. Single-threaded but for SyscallWatch.
class Agent {
 public:
  struct Descriptors {
    sys::Fd stream;          // to the host
    sys::SocketFd listener;  // where a host that comes back connects; not open: none does
  };
  // Takes over the descriptors, says Hello, and prepares the process: a session of its own, SIGCHLD
  // by descriptor, no SIGPIPE.
  static Result<std::unique_ptr<Agent>> make(Descriptors descriptors);

  // Serves the host until it is told to stop, the deadline passes, or the stream of an agent ends
  // that was not told Adopt. Afterwards the process must exit at once: that kills what still runs.
  // An error is a reason to do the same, and was sent to the host where that could be done.
  Status run();

 private:
  enum class Source : uint64_t;

  Agent(Descriptors descriptors, sys::Epoll epoll, Timers timers, sys::SignalFd signals);

  Status watch_own_descriptors();
  Status watch_stream();
  void on_event(uint64_t token, uint32_t events);
  void on_timer(Timers::Key key);

  Status read_stream();
  Status write_stream();
  void on_stream_lost();
  Status say_hello();
  Status take_stream_events();
  template <typename About>
  void pass_on(const About& about);

  Status on_message(const wire::ToAgent& message);
  Status on_setup(const wire::ToAgent& message);
  Status prepare(const wire::Setup& setup, wire::Evidence& evidence);
  Status serve_sudo();
  void prepare_way_out();
  void on_start(const wire::ToAgent& message);
  void answer(uint64_t request, const Status& status);
  void answer_usage(uint64_t request);
  Status hold(wire::Hold::What what);
  void set_deadline(uint64_t ms);

  void reap();
  bool pump();
  void end_commands();
  void kill_orphans();
  bool is_supervisor(pid_t pid) const;

  void report_denials();

  // A host that comes back: reconnect.cc.
  void take_in_host();
  void hear_out();
  void lose_host();
  Status on_adopt();
  Status on_resume(const wire::ToAgent& message);
  void on_attach(const wire::ToAgent& message);

  Command* find(uint32_t id);

  sys::Fd stream_;
  sys::SocketFd listener_;
  sys::Epoll epoll_;
  Timers timers_;
  sys::SignalFd signals_;
  OomScore oom_;
  wire::Setup setup_;
  std::optional<sudo::Service> sudo_;
  wire::AgentChannel channel_;
  bool stream_is_full_ = false;
  bool bound_ = true;
  bool set_up_ = false;
  bool adopted_ = false;
  bool must_resume_ = false;  // the host is a new one and has not said Resume yet
  bool stopping_ = false;

  OutputRing::Budget kept_output_;
  uint32_t last_command_ = 0;  // the highest number so far
  std::map<uint32_t, std::unique_ptr<Command>> commands_;
  EndedCommands ended_;
  StandStill stand_still_;
  Refusals refusals_;
  AskerFinder askers_;
  NameQueries name_queries_;
  std::optional<WayOut> way_out_;  // where Setup gave one
  WayIn way_in_;
};

}  // namespace paddock::agent
