// One side of the agent's byte stream: bytes in, events out; messages in, bytes out. Pure: no file
// descriptor, no clock, no thread. Both the host's pumps and the agent's loop drive it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "wire/agent.pb.h"
#include "wire/frame.h"

namespace paddock::wire {

using StreamId = uint32_t;  // chosen by the host, never 0

struct StreamData {
  StreamId stream;
  std::string bytes;
};
struct StreamEnd {
  StreamId stream;
};
struct StreamReset {
  StreamId stream;
};
struct CreditGained {
  StreamId stream;
};

// Incoming is the message type of the other side.
template <typename Incoming, typename Outgoing>
class Channel {
 public:
  using Event = std::variant<Incoming, StreamData, StreamEnd, StreamReset, CreditGained>;

  // Takes bytes as they came. An error (data_corrupt) is a protocol violation: oversized or malformed
  // frame, data beyond credit, unknown stream. The channel is dead afterwards.
  Status receive(std::string_view bytes);
  std::optional<Event> next_event();

  void send(const Outgoing& message);
  // Both sides open a stream before they use it: the host when it names it in Start, the agent when it
  // reads that. Data on a stream that is not open is a violation.
  void open_stream(StreamId stream);
  // How much may be sent on the stream now; 0: wait for CreditGained.
  size_t sendable(StreamId stream) const;
  // Precondition: bytes.size() <= sendable(stream).
  void send_data(StreamId stream, std::string_view bytes);
  void end_stream(StreamId stream);
  void reset_stream(StreamId stream);
  // The reader is done with `count` bytes of the stream; grants the writer as much again.
  void consumed(StreamId stream, size_t count);
  void close_stream(StreamId stream);

  // Bytes to write to the transport; call written() with how many went.
  std::string_view output() const;
  void written(size_t count);

 private:
  struct Stream {
    uint64_t send_credit = kInitialCredit;
    uint64_t receive_credit = kInitialCredit;
    uint64_t consumed_since_grant = 0;
    bool ended = false;
  };

  Status take_frame(FrameType type, std::string_view payload);
  Status take_stream_frame(FrameType type, StreamId id, std::string_view payload);
  void put_frame(FrameType type, std::optional<StreamId> stream, std::string_view payload);

  std::string input_;
  std::string output_;
  size_t output_sent_ = 0;
  std::deque<Event> events_;
  std::map<StreamId, Stream> streams_;
  bool dead_ = false;
};

using HostChannel = Channel<ToHost, ToAgent>;
using AgentChannel = Channel<ToAgent, ToHost>;

}  // namespace paddock::wire
