#include "wire/channel.h"

#include <google/protobuf/stubs/logging.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "wire/violation.h"

namespace paddock::wire {
namespace {

// Credit is granted in steps of a quarter, so that a reader of single bytes does not answer each
// one. Of less than the whole, or a writer that used it all up would wait for ever.
constexpr uint32_t kGrantSteps = 4;

// A message that does not parse is an Error here; protobuf would also write a line to standard
// error for each, as often as a hostile agent likes.
[[maybe_unused]] auto* const kFormerLogHandler = google::protobuf::SetLogHandler(nullptr);

// Buffers that one large message has grown are given back beyond this size. Smaller ones are kept:
// a stream of data fills them again at once.
constexpr size_t kKeptBuffer = 384u << 10;
constexpr size_t kSpares = 2;
constexpr size_t kKeptSpare = 128u << 10;

template <typename Message>
constexpr uint32_t kMaxControl = 0;
template <>
constexpr uint32_t kMaxControl<ToAgent> = kMaxControlToAgent;
template <>
constexpr uint32_t kMaxControl<ToHost> = kMaxControlToHost;

// Streams that the other side begins to use with this message.
struct NamedStreams {
  std::array<StreamId, 3> ids;
  uint32_t credit = kInitialCredit;
};

NamedStreams streams_named_by(const ToAgent& message) {
  if (message.has_connect_answer()) {
    return {{message.connect_answer().stream()}, kConnectionCredit};
  }
  if (message.has_attach()) {
    const Attach& attach = message.attach();
    return {{attach.stdin_stream(), attach.stdout_stream(),
             attach.stderr_stream() == attach.stdout_stream() ? 0 : attach.stderr_stream()}};
  }
  if (message.has_forward()) return {{message.forward().stream()}, kConnectionCredit};
  const Start& start = message.start();  // all zero where it is another message
  return {{start.stdin_stream(), start.stdout_stream(),
           start.stderr_stream() == start.stdout_stream() ? 0 : start.stderr_stream()}};
}
NamedStreams streams_named_by(const ToHost&) {
  return {};
}

std::string on_stream(StreamId id) {
  return " on stream " + std::to_string(id);
}

void drop_front(std::string& buffer, size_t count) {
  buffer.erase(0, count);
  if (buffer.empty() && buffer.capacity() > kKeptBuffer) std::string().swap(buffer);
}

}  // namespace

template <typename In, typename Out>
Status Channel<In, Out>::receive(std::string_view bytes) {
  if (dead_) return protocol_violation("bytes after an earlier violation");
  if (!input_.empty()) input_.append(bytes);
  Result<size_t> taken = take_frames(input_.empty() ? bytes : std::string_view(input_));
  if (!taken.ok()) {
    dead_ = true;
    return std::move(taken).error();
  }
  if (input_.empty()) {
    input_.assign(bytes.substr(*taken));
  } else {
    drop_front(input_, *taken);
  }
  return {};
}

// Returns how many bytes the whole frames at the beginning had.
template <typename In, typename Out>
Result<size_t> Channel<In, Out>::take_frames(std::string_view bytes) {
  size_t taken = 0;
  while (true) {
    std::optional<Frame> frame = PD_TRY(parse_frame(bytes.substr(taken), kMaxControl<In>));
    if (!frame) return taken;
    PD_TRY(take_frame(*frame));
    taken += frame->size;
  }
}

template <typename In, typename Out>
Status Channel<In, Out>::take_frame(const Frame& frame) {
  switch (frame.type) {
    case FrameType::control:
      return take_control(frame.payload);
    case FrameType::data:
      return take_data(frame);
    case FrameType::end:
      return take_end(frame);
    case FrameType::credit:
      return take_credit(frame);
    case FrameType::reset:
      take_reset(frame);
      return {};
    case FrameType::abort:
      take_abort(frame);
      return {};
  }
  return protocol_violation("frame of unknown type");
}

template <typename In, typename Out>
Status Channel<In, Out>::take_control(std::string_view payload) {
  In message;
  if (!message.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
    return protocol_violation("control frame that is no message");
  }
  if (message.body_case() == In::BODY_NOT_SET) return protocol_violation("message without a body");
  PD_TRY(open_named_streams(message));
  events_.push_back(std::move(message));
  return {};
}

template <typename In, typename Out>
Status Channel<In, Out>::open_named_streams(const In& message) {
  const NamedStreams named = streams_named_by(message);
  for (StreamId id : named.ids) {
    if (id != 0 && !streams_.try_emplace(id, named.credit).second) {
      return protocol_violation("a beginning" + on_stream(id) + ", which is in use");
    }
  }
  return {};
}

template <typename In, typename Out>
Status Channel<In, Out>::take_data(const Frame& frame) {
  Stream* stream = find(frame.stream);
  if (stream == nullptr)
    return protocol_violation("data" + on_stream(frame.stream) + ", which is not open");
  if (stream->end_received)
    return protocol_violation("data after the end" + on_stream(frame.stream));
  if (frame.payload.size() > stream->receive_credit) {
    return protocol_violation(std::to_string(frame.payload.size()) + " bytes" +
                              on_stream(frame.stream) + " with credit for " +
                              std::to_string(stream->receive_credit));
  }
  stream->receive_credit -= static_cast<uint32_t>(frame.payload.size());
  if (!stream->reset_sent) {
    events_.push_back(StreamData{frame.stream, copy_of(frame.payload)});
  }
  return {};
}

template <typename In, typename Out>
std::string Channel<In, Out>::copy_of(std::string_view payload) {
  std::string bytes;
  if (!spares_.empty()) {
    bytes = std::move(spares_.back());
    spares_.pop_back();
  }
  bytes.assign(payload);
  return bytes;
}

template <typename In, typename Out>
void Channel<In, Out>::recycle(std::string bytes) {
  if (spares_.size() < kSpares && bytes.capacity() <= kKeptSpare) {
    spares_.push_back(std::move(bytes));
  }
}

template <typename In, typename Out>
Status Channel<In, Out>::take_end(const Frame& frame) {
  Stream* stream = find(frame.stream);
  if (stream == nullptr)
    return protocol_violation("end" + on_stream(frame.stream) + ", which is not open");
  if (stream->end_received) return protocol_violation("second end" + on_stream(frame.stream));
  stream->end_received = true;
  if (stream->closed) {  // closing has sent our end
    streams_.erase(frame.stream);
  } else if (!stream->reset_sent) {
    events_.push_back(StreamEnd{frame.stream});
  }
  return {};
}

// A grant may cross the end of the stream it is for, and then finds nothing: no harm in it.
template <typename In, typename Out>
Status Channel<In, Out>::take_credit(const Frame& frame) {
  Stream* stream = find(frame.stream);
  if (stream == nullptr) return {};
  const uint32_t count = read_u32(frame.payload);
  const uint32_t sent = stream->credit - stream->send_credit;
  if (count == 0 || count > sent) {
    return protocol_violation("credit for " + std::to_string(count) + " bytes" +
                              on_stream(frame.stream) + ", of which " + std::to_string(sent) +
                              " were sent");
  }
  stream->send_credit += count;
  if (!stream->end_sent) events_.push_back(CreditGained{frame.stream});
  return {};
}

template <typename In, typename Out>
void Channel<In, Out>::take_reset(const Frame& frame) {
  Stream* stream = find(frame.stream);
  if (stream == nullptr || stream->end_sent) return;
  end(frame.stream, *stream);
  events_.push_back(StreamReset{frame.stream});
}

// May cross an end or another abort: whoever has forgotten the stream has nothing more to learn.
template <typename In, typename Out>
void Channel<In, Out>::take_abort(const Frame& frame) {
  Stream* stream = find(frame.stream);
  if (stream == nullptr || stream->abort_received) return;
  stream->abort_received = true;
  stream->end_received = true;
  if (stream->closed) {
    streams_.erase(frame.stream);
    return;
  }
  end(frame.stream, *stream);
  events_.push_back(StreamAbort{frame.stream});
}

template <typename In, typename Out>
auto Channel<In, Out>::next_event() -> std::optional<Event> {
  if (events_.empty()) return std::nullopt;
  std::optional<Event> event = std::move(events_.front());
  events_.pop_front();
  return event;
}

template <typename In, typename Out>
Status Channel<In, Out>::send(const Out& message) {
  const size_t size = message.ByteSizeLong();
  if (size > kMaxControl<Out>) {
    return Error(Code::invalid_argument,
                 "a message of " + std::to_string(size) + " bytes is longer than the " +
                     std::to_string(kMaxControl<Out>) + " that may be sent");
  }
  append_frame_head(output_, FrameType::control, 0, static_cast<uint32_t>(size));
  message.AppendToString(&output_);
  return {};
}

template <typename In, typename Out>
Status Channel<In, Out>::open_stream(StreamId id, uint32_t credit) {
  if (id == 0 || !streams_.try_emplace(id, credit).second) {
    return Error(Code::invalid_argument, "stream " + std::to_string(id) + " is in use");
  }
  return {};
}

template <typename In, typename Out>
auto Channel<In, Out>::find(StreamId id) -> Stream* {
  auto it = streams_.find(id);
  return it == streams_.end() ? nullptr : &it->second;
}

template <typename In, typename Out>
auto Channel<In, Out>::find_usable(StreamId id) const -> const Stream* {
  auto it = streams_.find(id);
  return it == streams_.end() || it->second.closed ? nullptr : &it->second;
}

template <typename In, typename Out>
auto Channel<In, Out>::find_usable(StreamId id) -> Stream* {
  return const_cast<Stream*>(std::as_const(*this).find_usable(id));
}

template <typename In, typename Out>
bool Channel<In, Out>::is_open(StreamId id) const {
  return find_usable(id) != nullptr;
}

template <typename In, typename Out>
size_t Channel<In, Out>::sendable(StreamId id) const {
  const Stream* stream = find_usable(id);
  return stream == nullptr || stream->end_sent ? 0 : stream->send_credit;
}

template <typename In, typename Out>
void Channel<In, Out>::send_data(StreamId id, std::string_view bytes) {
  if (bytes.empty()) return;
  if (bytes.size() > sendable(id)) std::abort();  // a caller that does not ask first
  find(id)->send_credit -= static_cast<uint32_t>(bytes.size());
  append_frame_head(output_, FrameType::data, id, static_cast<uint32_t>(bytes.size()));
  output_.append(bytes);
}

template <typename In, typename Out>
void Channel<In, Out>::end(StreamId id, Stream& stream) {
  if (stream.end_sent) return;
  stream.end_sent = true;
  append_frame_head(output_, FrameType::end, id, 0);
}

template <typename In, typename Out>
void Channel<In, Out>::end_stream(StreamId id) {
  if (Stream* stream = find_usable(id)) end(id, *stream);
}

template <typename In, typename Out>
void Channel<In, Out>::reset_stream(StreamId id) {
  Stream* stream = find_usable(id);
  if (stream == nullptr || stream->reset_sent || stream->end_received) return;
  stream->reset_sent = true;
  append_frame_head(output_, FrameType::reset, id, 0);
}

template <typename In, typename Out>
void Channel<In, Out>::consumed(StreamId id, size_t count) {
  Stream* stream = find_usable(id);
  if (stream == nullptr || stream->end_received || stream->reset_sent) return;
  stream->consumed_since_grant += static_cast<uint32_t>(count);
  if (stream->consumed_since_grant < stream->credit / kGrantSteps) return;
  append_frame_head(output_, FrameType::credit, id, sizeof(uint32_t));
  append_u32(output_, stream->consumed_since_grant);
  stream->receive_credit += std::exchange(stream->consumed_since_grant, 0);
}

template <typename In, typename Out>
void Channel<In, Out>::close_stream(StreamId id) {
  Stream* stream = find_usable(id);
  if (stream == nullptr) return;
  reset_stream(id);
  end(id, *stream);
  stream->closed = true;
  if (stream->end_received) streams_.erase(id);
}

template <typename In, typename Out>
void Channel<In, Out>::abort_stream(StreamId id) {
  Stream* stream = find_usable(id);
  if (stream == nullptr) return;
  if (!stream->abort_received) {
    append_frame_head(output_, FrameType::abort, id, 0);
    stream->end_sent = true;
    stream->reset_sent = true;
  }
  close_stream(id);
}

template <typename In, typename Out>
void Channel<In, Out>::written(size_t count) {
  output_sent_ += count;
  if (output_sent_ == output_.size()) {
    drop_front(output_, std::exchange(output_sent_, 0));
  } else if (output_sent_ >= kKeptBuffer && output_sent_ * 2 >= output_.size()) {
    output_.erase(0, std::exchange(output_sent_, 0));
  }
}

template class Channel<ToHost, ToAgent>;
template class Channel<ToAgent, ToHost>;

}  // namespace paddock::wire
