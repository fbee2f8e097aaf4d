// One command of a live sandbox: its output on the way to any number of readers, its input, its
// end.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "engine/live/agent_session.h"
#include "engine/live/guest_user.h"
#include "net/condition.h"
#include "net/event.h"
#include "wire/agent.pb.h"

namespace paddock::engine {

struct TerminalSize {
  uint32_t rows = 24;
  uint32_t columns = 80;
};

struct ProcessRequest {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;  // over the sandbox's own
  std::string directory;                           // empty: the user's home
  std::optional<GuestUser> user;                   // unset: the sandbox's own
  std::optional<TerminalSize> terminal;
  enum class Input { open, none } input = Input::none;
  uint64_t timeout_ms = 0;  // 0: none
  std::string tag;
};

enum class OutputKind { standard_output, standard_error, terminal };

struct OutputData {
  OutputKind kind;
  std::string bytes;
  uint64_t sequence;  // of its first byte; both outputs count together, from 0
};
// How the command ended, as the agent said; nothing follows.
struct OutputEnd {
  wire::Ended ended;
};
using Output = std::variant<OutputData, OutputEnd>;

// Lives as long as somebody holds it; used on its loop's thread. What came and a reader has not
// taken yet is kept, and beyond the stream's credit the command waits: the slowest reader that is
// attached sets its pace, and no other command's. Without readers output is dropped, but for the
// latest kKeptOutput bytes, which a reader can still ask for.
class Process : public StreamUser, public std::enable_shared_from_this<Process> {
 public:
  Process(net::Loop& loop, std::shared_ptr<AgentSession> session, ProcessRequest request);
  ~Process() override;

  static constexpr size_t kKeptOutput = 128u << 10;

  // Attached from its making on: sees what comes from then on, the end included.
  class Reader {
   public:
    explicit Reader(std::shared_ptr<Process> process);
    // Begins with the byte of that number, or the first one after it that is still there.
    Reader(std::shared_ptr<Process> process, uint64_t sequence);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    // nullopt: nothing came within the time, or wake() was called. unavailable: the sandbox is
    // gone.
    Result<std::optional<Output>> next(net::Task& task, std::chrono::milliseconds patience);
    // Ends the wait of next(), now or the next one.
    void wake();

   private:
    friend class Process;
    std::shared_ptr<Process> process_;
    uint64_t next_;
    uint64_t from_ = 0;  // what lies before it in the first piece is not for this reader
    bool woken_ = false;
  };

  // Once. `start` has confinement, environment and the default directory; the rest is filled in
  // here. An error means that it never ran.
  Status start(net::Task& task, wire::Start start, uint32_t number);

  // The same for one that an earlier daemon started, instead of start().
  Status attach(net::Task& task, const wire::CommandState& state);

  const ProcessRequest& request() const { return request_; }
  uint32_t number() const { return number_; }
  int pid() const { return pid_; }
  bool has_ended() const { return ended_ || gone_; }
  int64_t ended_ms() const { return ended_ms_; }

  // Waits while the command does not read. failed_precondition: it takes no input (any more).
  Status send_input(net::Task& task, std::string_view bytes, std::chrono::milliseconds patience);
  void close_input();
  // The whole tree of it. not_found: it has ended.
  Status signal(net::Task& task, int number);
  Status resize(net::Task& task, const TerminalSize& size);

  // From the sandbox: the agent's last word, or its loss.
  void on_ended(const wire::Ended& ended);
  void on_sandbox_gone();

  void on_data(wire::StreamId stream, std::string bytes) override;
  void on_end(wire::StreamId) override {}
  void on_reset(wire::StreamId stream) override;
  void on_credit(wire::StreamId stream) override;

 private:
  struct Piece {
    wire::StreamId stream;
    std::string bytes;
    uint64_t sequence;
  };

  Status open_streams(wire::Start& start);
  void close_streams();
  void trim();

  net::Loop& loop_;
  std::shared_ptr<AgentSession> session_;
  ProcessRequest request_;
  uint32_t number_ = 0;
  int pid_ = 0;
  wire::StreamId input_ = 0;  // 0: none, or closed
  wire::StreamId output_ = 0;
  wire::StreamId error_ = 0;

  std::deque<Piece> pieces_;
  uint64_t first_ = 0;          // number of the first piece that is kept
  uint64_t untaken_ = 0;        // of the first one that some reader has not taken
  size_t taken_bytes_ = 0;      // in the pieces between
  uint64_t next_sequence_ = 0;  // of the next byte to come
  std::set<Reader*> readers_;
  net::Condition changed_;
  net::Condition input_changed_;
  net::Turnstile input_turns_;
  std::optional<wire::Ended> ended_;
  bool gone_ = false;
  int64_t ended_ms_ = 0;
};

}  // namespace paddock::engine
