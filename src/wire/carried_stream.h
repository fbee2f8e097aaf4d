// One end of a connection that is carried: a socket here, a stream of the channel there. The agent
// has one for each connection of a program, the host the other one. Pure: its owner reads and
// writes the socket and says how that went.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "wire/channel.h"

namespace paddock::wire {

// Keeps what the socket has not taken yet, which the stream's credit bounds. Each direction ends by
// itself. Destroying one that is not over aborts the stream. Used where the channel is.
template <typename Channel>
class CarriedStream {
 public:
  CarriedStream(Channel& channel, StreamId id) : channel_(channel), id_(id) {}
  ~CarriedStream() { is_over() ? channel_.close_stream(id_) : channel_.abort_stream(id_); }
  CarriedStream(const CarriedStream&) = delete;
  CarriedStream& operator=(const CarriedStream&) = delete;

  StreamId id() const { return id_; }

  // ---- from the socket

  // How much to read of it now, when the channel should take on at most `room`.
  size_t readable(size_t room) const {
    if (read_ended_) return 0;
    return unwanted_ ? room : std::min(room, channel_.sendable(id_));
  }
  void read(std::string_view bytes) {
    if (!unwanted_) channel_.send_data(id_, bytes);  // else nobody is there to take it
  }
  void read_end() {
    read_ended_ = true;
    channel_.end_stream(id_);
  }

  // ---- from the stream

  void on_data(std::string bytes) {
    if (pending_.empty()) {
      pending_ = std::move(bytes);
    } else {
      pending_.append(bytes);
      channel_.recycle(std::move(bytes));
    }
  }
  void on_end() { stream_ended_ = true; }
  void on_reset() { unwanted_ = true; }

  std::string_view unwritten() const { return std::string_view(pending_).substr(written_); }
  void wrote(size_t count) {
    channel_.consumed(id_, count);
    written_ += count;
    if (written_ < pending_.size()) return;
    written_ = 0;
    channel_.recycle(std::exchange(pending_, {}));  // a thousand idle connections keep no buffers
  }
  // All is written and nothing more comes: close the socket's writing side, then wrote_end().
  bool is_end_due() const { return stream_ended_ && !write_ended_ && unwritten().empty(); }
  void wrote_end() { write_ended_ = true; }
  bool is_written() const { return write_ended_; }  // the socket will take no more
  // The socket takes nothing any more, but may still have something to say.
  void write_failed() {
    channel_.reset_stream(id_);
    write_ended_ = true;
    written_ = 0;
    std::string().swap(pending_);
  }

  bool is_over() const { return write_ended_ && (read_ended_ || unwanted_); }

 private:
  Channel& channel_;
  StreamId id_;
  std::string pending_;
  size_t written_ = 0;
  bool read_ended_ = false;    // the socket's end was read
  bool unwanted_ = false;      // the other side takes no more
  bool stream_ended_ = false;  // the other side sends no more
  bool write_ended_ = false;
};

}  // namespace paddock::wire
