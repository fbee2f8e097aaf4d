// One side of the agent's byte stream: bytes in, events out; messages in, bytes out. Pure: no file
// descriptor, no clock, no thread. Both the host's pumps and the agent's loop drive it.
//
// A stream has two directions, each under its own credit. A direction finishes when its writer says
// end, by itself or because the reader said reset; an abort finishes both, and says that what came
// is not the whole. Each side calls close_stream() once it is done with both; the id is free again
// when both sides have. Frames that cross a close are expected and dropped.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "wire/agent.pb.h"
#include "wire/frame.h"

namespace paddock::wire {

struct StreamData {
  StreamId stream;
  std::string bytes;  // never empty
};
struct StreamEnd {  // the other side writes no more
  StreamId stream;
};
struct StreamReset {  // the other side reads no more; our direction has been ended
  StreamId stream;
};
struct StreamAbort {  // broken off by the other side; both directions have ended
  StreamId stream;
};
struct CreditGained {  // more may be sent
  StreamId stream;
};

// Incoming is the message type of the other side. Not thread-safe. What it buffers is bounded by
// one frame coming in, and going out by the credit of the open streams and what the caller sends.
template <typename Incoming, typename Outgoing>
class Channel {
 public:
  using Event =
      std::variant<Incoming, StreamData, StreamEnd, StreamReset, StreamAbort, CreditGained>;

  // Takes bytes as they came. An error (data_corrupt) is a protocol violation: malformed or
  // oversized frame, data beyond credit, data on a stream that is not open. The channel is dead
  // afterwards, and events before the violation are still there.
  Status receive(std::string_view bytes);
  std::optional<Event> next_event();

  // invalid_argument: longer than the other side takes (kMaxControl…); nothing is sent.
  Status send(const Outgoing& message);

  // The host opens a stream before it sends the Start or ConnectAnswer that names it, with a credit
  // of kInitialCredit or kConnectionCredit. The agent's side is open when it has received that,
  // even if it cannot do what the message asks, and must be closed all the same: frames of the
  // stream may follow at once. invalid_argument: 0, or still in use.
  Status open_stream(StreamId stream, uint32_t credit = kInitialCredit);
  bool is_open(StreamId stream) const;
  // How much may be sent on the stream now; 0: wait for CreditGained, or our direction has ended.
  size_t sendable(StreamId stream) const;
  // Precondition: bytes.size() <= sendable(stream).
  void send_data(StreamId stream, std::string_view bytes);
  // Our direction is over. Idempotent.
  void end_stream(StreamId stream);
  // We read no more of it: what still comes is dropped without an event. Idempotent.
  void reset_stream(StreamId stream);
  // The reader is done with `count` bytes of the stream; grants the writer as much again.
  void consumed(StreamId stream, size_t count);
  // Ends our direction, resets the other one if it has not ended, and forgets the stream.
  // Idempotent.
  void close_stream(StreamId stream);
  // Tells the other side that the stream is broken, and forgets it. Idempotent.
  void abort_stream(StreamId stream);

  // Optional: the buffer of a StreamData that its reader is done with, for another one. Without it
  // each costs fresh pages from the kernel.
  void recycle(std::string bytes);

  // Bytes to write to the transport; call written() with how many went.
  std::string_view output() const { return std::string_view(output_).substr(output_sent_); }
  void written(size_t count);

 private:
  struct Stream {
    explicit Stream(uint32_t whole) : credit(whole), send_credit(whole), receive_credit(whole) {}

    uint32_t credit;  // of each direction while nothing is on its way
    uint32_t send_credit;
    uint32_t receive_credit;
    uint32_t consumed_since_grant = 0;
    bool end_sent = false;
    bool end_received = false;
    bool reset_sent = false;  // incoming data is dropped
    bool abort_received = false;
    bool closed = false;  // kept until the other side has ended, too
  };

  Result<size_t> take_frames(std::string_view bytes);
  Status take_frame(const Frame& frame);
  Status take_control(std::string_view payload);
  Status open_named_streams(const Incoming& message);
  Status take_data(const Frame& frame);
  Status take_end(const Frame& frame);
  Status take_credit(const Frame& frame);
  void take_reset(const Frame& frame);
  void take_abort(const Frame& frame);
  Stream* find(StreamId id);
  const Stream* find_usable(StreamId id) const;
  Stream* find_usable(StreamId id);
  void end(StreamId id, Stream& stream);
  std::string copy_of(std::string_view payload);

  std::string input_;  // the beginning of a frame
  std::string output_;
  size_t output_sent_ = 0;
  std::deque<Event> events_;
  std::vector<std::string> spares_;
  std::map<StreamId, Stream> streams_;
  bool dead_ = false;
};

using HostChannel = Channel<ToHost, ToAgent>;
using AgentChannel = Channel<ToAgent, ToHost>;

extern template class Channel<ToHost, ToAgent>;
extern template class Channel<ToAgent, ToHost>;

}  // namespace paddock::wire
