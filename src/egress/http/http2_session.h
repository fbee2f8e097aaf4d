// One side of an HTTP/2 connection, by nghttp2: frames, header compression, flow control and the
// limits on what a peer may make us do are its business; here it is given a stream and made to
// speak in messages.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "egress/http/message.h"
#include "net/event.h"
#include "net/stream.h"

struct nghttp2_session;

namespace paddock::egress::http {

using Http2StreamId = int32_t;

// What a session has received. Called inside receive(); must not wait.
class Http2Events {
 public:
  virtual ~Http2Events() = default;
  enum class Last { no, yes };  // whether the message ends with it
  // A head, an interim one or trailers, pseudo-fields first.
  virtual void on_fields(Http2StreamId stream, Fields fields, Last last) = 0;
  virtual void on_data(Http2StreamId stream, std::string_view bytes) = 0;
  virtual void on_end(Http2StreamId stream) = 0;  // of a message that ends with data
  // The stream is no more. `error` as in RFC 9113 section 7; 0: both messages were whole.
  virtual void on_close(Http2StreamId stream, uint32_t error) = 0;
  // The peer takes no new streams.
  virtual void on_going_away() = 0;
};

enum class Http2Role { client, server };

// A body that is sent as the peer's window allows. Filled by one side, emptied by the session.
class Http2Outflow {
 public:
  explicit Http2Outflow(net::Loop& loop) : loop_(loop) {}

  // Not more than kEnough at once: wait for room.
  static constexpr size_t kEnough = 64 * 1024;
  bool has_room() const { return bytes.size() < kEnough; }
  void wait_for_room(net::Task& task);
  void emptied();

  std::string bytes;
  bool ended = false;  // nothing will be added
  Fields trailers{};
  uint64_t unpaid = 0;  // received for it and not yet given back to the sender's window
  std::function<void()> on_emptied;

 private:
  net::Loop& loop_;
  std::shared_ptr<net::Event> room_;
};

// Owned by one loop's thread.
class Http2Session {
 public:
  Http2Session(net::Loop& loop, Http2Role role, net::Stream& stream, Http2Events& events);
  ~Http2Session();
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

  // Bytes that were read already.
  Status receive(std::string_view bytes);
  // Reads until the peer ends or breaks the protocol.
  Status run_reader(net::Task& task);
  // Sends what there is to send until the session is over, or until nothing is left after stop().
  Status run_writer(net::Task& task);
  void stop();

  // nullptr as a body: the message ends with its head. unavailable: the stream is gone.
  Result<Http2StreamId> send_request(const Fields& fields, std::shared_ptr<Http2Outflow> body);
  Status send_response(Http2StreamId stream, const Fields& fields,
                       std::shared_ptr<Http2Outflow> body);
  Status send_interim(Http2StreamId stream, const Fields& fields);
  // More bytes, or the end, are in the body.
  void resume(Http2StreamId stream);
  void reset(Http2StreamId stream, uint32_t error);
  // Opens the peer's window again by what has been passed on.
  void give_back(Http2StreamId stream, size_t bytes);
  void go_away();

  struct Callbacks;

 private:
  friend struct Callbacks;
  void wake();

  net::Loop& loop_;
  net::Stream& stream_;
  Http2Events& events_;
  nghttp2_session* session_ = nullptr;
  std::map<Http2StreamId, Fields> heads_;  // on their way in
  std::map<Http2StreamId, std::shared_ptr<Http2Outflow>> bodies_;
  std::shared_ptr<net::Event> work_;  // set: there may be something to send
  bool stopped_ = false;
};

inline constexpr uint32_t kHttp2Cancel = 8;
inline constexpr uint32_t kHttp2InternalError = 2;
inline constexpr uint32_t kHttp2Refused = 7;

}  // namespace paddock::egress::http
