// Carries one command of `paddock run`: the caller's files to and from the agent's streams, the
// caller's signals to the command, until the command has ended or the sandbox is gone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/agent_link.h"
#include "engine/denials.h"
#include "engine/egress_bridge.h"
#include "engine/engine.h"
#include "engine/sink.h"
#include "isolation/backend.h"
#include "sys/signal_fd.h"
#include "sys/terminal.h"
#include "wire/agent.pb.h"

namespace paddock::engine {

// Streams of the one command.
inline constexpr wire::StreamId kStdinStream = 1;
inline constexpr wire::StreamId kStdoutStream = 2;
inline constexpr wire::StreamId kStderrStream = 3;

struct RelayResult {
  std::string command;               // argv[0], for messages
  std::optional<wire::Ended> ended;  // nullopt: the sandbox went away first
  std::string killed_because;        // why we ended it, empty: we did not
  int killed_by_signal = 0;          // of ours, when that was why
  bool timed_out = false;            // our own backstop behind the agent's timer
  uint64_t stdout_bytes = 0;
  uint64_t stderr_bytes = 0;
};

struct RelayOptions {
  Stdio stdio;
  EgressBridge* egress = nullptr;  // nullptr: nothing leaves
  uint64_t timeout_ms = 0;
  // Called about once a second; a reason ends the sandbox (disk limit).
  std::function<std::optional<std::string>()> watch;
};

// Used once. The sandbox outlives it.
class Relay {
 public:
  Relay(isolation::Sandbox& sandbox, AgentLink& link, Denials& denials, RelayOptions options);

  // Starts the command and returns when it is over. An Error is a broken agent or descriptor.
  Result<RelayResult> run(wire::Start start);

 private:
  bool finished() const;
  bool is_sending() const;
  Status start(wire::Start& start);
  Status wait_once();
  Status take_events();
  void take(wire::ToHost message);
  void take(wire::StreamData data);
  bool take_egress(wire::HostChannel::Event& event);
  void drain(Sink& sink, wire::StreamId stream);
  void read_input();
  void take_signals();
  void end_sandbox(std::string reason);
  void check_clocks();

  isolation::Sandbox& sandbox_;
  AgentLink& link_;
  Denials& denials_;
  RelayOptions options_;
  Sink out_;
  Sink err_;
  std::optional<sys::SignalFd> signals_;
  RelayResult result_;
  Status failure_;
  bool egress_has_more_ = false;
  bool started_ = false;  // until then the agent has not opened the command's streams
  bool input_open_ = true;
  bool gone_ = false;
  int signals_seen_ = 0;
  int64_t deadline_us_ = 0;    // of our backstop, 0: none
  int64_t last_words_us_ = 0;  // until then what an ended command has sent is still carried
  int64_t next_watch_us_ = 0;
};

}  // namespace paddock::engine
