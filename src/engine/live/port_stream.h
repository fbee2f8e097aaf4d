// A connection to a port inside a live sandbox, as a byte stream.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/live/agent_session.h"
#include "net/condition.h"
#include "net/stream.h"

namespace paddock::engine {

// Used on its loop's thread. What was read ahead is bounded by the stream's credit. Each direction
// ends by itself; destroying it breaks off what is not over.
class PortStream : public net::Stream, private StreamUser {
 public:
  // unavailable: nothing listens there (errno ECONNREFUSED), or the sandbox is gone. timed_out: it
  // listens and does not accept.
  static Result<std::unique_ptr<PortStream>> open(net::Task& task,
                                                  std::shared_ptr<AgentSession> session,
                                                  uint16_t port);
  ~PortStream() override;

  Result<size_t> read(net::Task& task, std::span<char> into) override;
  Status wait_readable(net::Task& task) override;
  Status write(net::Task& task, std::string_view bytes) override;
  Status end_writing(net::Task& task) override;
  void abort() override;

 private:
  PortStream(net::Loop& loop, std::shared_ptr<AgentSession> session)
      : loop_(loop), session_(std::move(session)), changed_(loop) {}

  void on_data(wire::StreamId stream, std::string bytes) override;
  void on_end(wire::StreamId stream) override;
  void on_reset(wire::StreamId stream) override;
  void on_credit(wire::StreamId stream) override;
  void on_abort(wire::StreamId stream) override;
  bool is_over() const { return read_ended_ && write_ended_; }

  net::Loop& loop_;
  std::shared_ptr<AgentSession> session_;
  net::Condition changed_;
  wire::StreamId stream_ = 0;
  std::string buffer_;
  size_t taken_ = 0;
  bool read_ended_ = false;   // by the program
  bool write_ended_ = false;  // by us
  bool unwanted_ = false;     // the program reads no more
  bool broken_ = false;
};

}  // namespace paddock::engine
