// A simple host for tests: speaks to an agent over any descriptor, one thread, blocking with
// patience.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "wire/channel.h"

namespace paddock::wire::testing {

// One command as the client has seen it so far.
struct ClientCommand {
  std::optional<Started> started;
  std::optional<Failure> failure;
  std::optional<Ended> ended;
  std::string out;
  std::string err;
  size_t out_bytes = 0;  // of both outputs; counts on when `discard_output` is set
  bool discard_output = false;
  bool out_ended = false;
  bool err_ended = false;
  bool input_was_reset = false;

  // Output comes in but is not acknowledged: a reader that does not read.
  bool paused = false;

  StreamId input_stream = 0;
  StreamId output_stream = 0;
  StreamId error_stream = 0;
  std::string input;  // not yet sent
  bool end_input = false;
  std::map<StreamId, size_t> unacknowledged;

  bool is_over() const { return ended.has_value() || failure.has_value(); }
};

// One connection that the client let out, as the far end has seen it so far.
struct ClientConnection {
  std::string in;  // from the program
  size_t in_bytes = 0;
  bool paused = false;  // bytes come in but are not acknowledged
  bool echo = false;    // what comes goes back, and so does the end
  bool ended = false;
  bool was_reset = false;  // the program takes no more
  bool aborted = false;
  std::string out;  // not yet sent
  bool end_out = false;

  bool is_over() const { return aborted || (ended && end_out && out.empty()); }
};

enum class Outputs { apart, merged };

// Does not own the descriptor. Every wait ends after `patience_ms` at the latest.
class AgentClient {
 public:
  explicit AgentClient(int fd, int patience_ms = 60'000);

  // The agent's first message.
  Result<Hello> hello();
  // Fills in the build id and sends Setup.
  Result<Evidence> setup(Setup setup);

  // ---- an agent that has lost its host

  // Its commands, in the order in which it tells them.
  Result<std::vector<CommandState>> resume();
  // Numbers of commands and what is known of them continue from an earlier client.
  Result<Attached> attach(uint32_t id, uint64_t from);
  void forget(uint32_t id);

  // Chooses number and streams and sends Start; `start` with a terminal, or pipes for all three.
  uint32_t start(Start start, Outputs outputs = Outputs::apart);
  ClientCommand& command(uint32_t id) { return commands_.at(id); }
  void write_input(uint32_t id, std::string_view bytes);
  void end_input(uint32_t id);
  void resume(uint32_t id);        // after ClientCommand::paused
  void reset_output(uint32_t id);  // the host does not want the rest
  // Starts, ends its input and waits.
  Result<ClientCommand> run(std::vector<std::string> argv);
  Result<ClientCommand> run(Start start);
  Status wait_for(uint32_t id);
  // Takes out a command that is over.
  ClientCommand take(uint32_t id);

  // Sends a request and waits for what answers it.
  Result<ToHost> request(ToAgent message);
  Status signal(uint32_t id, int number, bool whole_tree);

  // Moves bytes until `done` says so; unavailable when the agent closes the stream first, timed_out
  // when patience is over.
  Status wait_until(const std::function<bool()>& done);
  // One round: at most `timeout_ms`.
  Status pump(int timeout_ms);

  const std::vector<Denied>& denials() const { return denials_; }
  // The first of that kind and text; waits for it a moment.
  std::optional<Denied> find_denial(Denied::Kind kind, std::string_view what);
  bool is_closed() const { return closed_; }

  // ---- the way out

  // Answers every NameQuery at once; without it they stay in name_queries() only.
  std::function<NameAnswer(const NameQuery&)> on_name;
  const std::vector<NameQuery>& name_queries() const { return name_queries_; }
  void answer(const NameAnswer& answer);

  // Takes the next ConnectQuery; waits for it.
  Result<ConnectQuery> next_connect_query();
  StreamId accept(const ConnectQuery& query);
  void refuse(const ConnectQuery& query, std::string_view reason);
  ClientConnection& connection(StreamId stream) { return connections_.at(stream); }
  void write(StreamId stream, std::string_view bytes) { connection(stream).out.append(bytes); }
  void end(StreamId stream) { connection(stream).end_out = true; }
  void reset(StreamId stream) { channel_.reset_stream(stream); }
  void abort(StreamId stream) { channel_.abort_stream(stream); }

 private:
  void on_message(const ToHost& message);
  void on_data(const StreamData& data);
  void on_end(StreamId stream);
  void flush_input(ClientCommand& command);
  ClientCommand* owner_of(StreamId stream);
  void release(ClientCommand& command);
  uint64_t send(ToAgent message);
  void on_connection_event(const HostChannel::Event& event);
  void flush(StreamId stream, ClientConnection& connection);

  int fd_;
  int patience_ms_;
  HostChannel channel_;
  bool closed_ = false;
  std::optional<Hello> hello_;
  std::map<uint64_t, ToHost> answers_;
  std::map<uint64_t, uint32_t> starts_;  // request → command
  std::map<uint32_t, ClientCommand> commands_;
  std::map<StreamId, uint32_t> owners_;
  std::vector<CommandState> states_;
  std::vector<Denied> denials_;
  std::vector<NameQuery> name_queries_;
  std::deque<ConnectQuery> connect_queries_;
  std::map<StreamId, ClientConnection> connections_;
  uint64_t next_request_ = 1;
  uint32_t next_command_ = 1;
  StreamId next_stream_ = 1;
};

// A Start with argv and PATH.
Start start_of(std::vector<std::string> argv);
// The same for `/bin/sh -c SCRIPT`.
Start shell(std::string script);

}  // namespace paddock::wire::testing
