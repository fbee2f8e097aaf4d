#include "egress/http/http2_session.h"

#include <fmt/core.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <utility>

namespace paddock::egress::http {
namespace {

constexpr uint32_t kStreamWindow = 256 * 1024;
constexpr int32_t kConnectionWindow = 4 * 1024 * 1024;
constexpr uint32_t kMaxStreams = 128;
constexpr uint32_t kMaxHeadBytes = 64 * 1024;
constexpr size_t kMaxFieldCount = 256;
constexpr size_t kSessionRead = 64 * 1024;

Error broken(int code, std::string_view doing) {
  return Error(Code::data_corrupt, fmt::format("HTTP/2: {}: {}", doing, nghttp2_strerror(code)));
}

std::vector<nghttp2_nv> as_pairs(const Fields& fields) {
  std::vector<nghttp2_nv> out;
  for (const Field& field : fields) {
    // SAFETY: nghttp2 copies both and writes to neither.
    auto bytes = [](const std::string& text) {
      return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
    };
    out.push_back({bytes(field.name), bytes(field.value), field.name.size(), field.value.size(),
                   NGHTTP2_NV_FLAG_NONE});
  }
  return out;
}

}  // namespace

void Http2Outflow::wait_for_room(net::Task& task) {
  if (has_room()) return;
  room_ = std::make_shared<net::Event>(loop_);
  const auto room = room_;  // emptied() replaces it
  room->wait(task);
}

void Http2Outflow::emptied() {
  if (room_ != nullptr && has_room()) std::exchange(room_, nullptr)->set();
  if (on_emptied) on_emptied();
}

// nghttp2's C callbacks, each handing over to the session behind `user`.
struct Http2Session::Callbacks {
  static Http2Session& self(void* user) { return *static_cast<Http2Session*>(user); }

  static int begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    self(user).heads_[frame->hd.stream_id].clear();
    return 0;
  }

  static int header(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                    size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                    void* user) {
    Fields& fields = self(user).heads_[frame->hd.stream_id];
    if (fields.size() >= kMaxFieldCount) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    fields.push_back(
        {.name = {name, name + name_size}, .value = {value, value + value_size}, .spelled = {}});
    return 0;
  }

  static int frame_received(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Http2Session& session = self(user);
    const Http2StreamId stream = frame->hd.stream_id;
    const bool last = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (frame->hd.type == NGHTTP2_HEADERS) {
      auto head = session.heads_.extract(stream);
      if (head.empty()) return 0;
      session.events_.on_fields(stream, std::move(head.mapped()),
                                last ? Http2Events::Last::yes : Http2Events::Last::no);
    } else if (frame->hd.type == NGHTTP2_DATA && last) {
      session.events_.on_end(stream);
    } else if (frame->hd.type == NGHTTP2_GOAWAY) {
      session.events_.on_going_away();
    }
    return 0;
  }

  static int data(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* bytes, size_t size,
                  void* user) {
    // SAFETY: bytes as chars.
    self(user).events_.on_data(stream, {reinterpret_cast<const char*>(bytes), size});
    return 0;
  }

  static int stream_closed(nghttp2_session*, int32_t stream, uint32_t error, void* user) {
    Http2Session& session = self(user);
    session.heads_.erase(stream);
    session.bodies_.erase(stream);
    session.events_.on_close(stream, error);
    return 0;
  }

  static ssize_t read_body(nghttp2_session* nghttp2, int32_t stream, uint8_t* into, size_t size,
                           uint32_t* flags, nghttp2_data_source*, void* user) {
    Http2Session& session = self(user);
    const auto found = session.bodies_.find(stream);
    if (found == session.bodies_.end()) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const std::shared_ptr<Http2Outflow> body = found->second;
    const size_t count = std::min(size, body->bytes.size());
    std::copy_n(body->bytes.begin(), count, into);
    body->bytes.erase(0, count);
    if (count > 0) body->emptied();
    if (!body->bytes.empty()) return static_cast<ssize_t>(count);
    if (!body->ended && count == 0) return NGHTTP2_ERR_DEFERRED;
    if (!body->ended) return static_cast<ssize_t>(count);
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (!body->trailers.empty()) {
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      const auto pairs = as_pairs(body->trailers);
      nghttp2_submit_trailer(nghttp2, stream, pairs.data(), pairs.size());
    }
    return static_cast<ssize_t>(count);
  }

  static nghttp2_session* make(Http2Session& user, Http2Role role) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_option* option = nullptr;
    nghttp2_session* session = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_option_new(&option);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frame_received);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, stream_closed);
    nghttp2_option_set_no_auto_window_update(option, 1);
    if (role == Http2Role::server) {
      nghttp2_session_server_new2(&session, callbacks, &user, option);
    } else {
      nghttp2_session_client_new2(&session, callbacks, &user, option);
    }
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    return session;
  }
};

Http2Session::Http2Session(net::Loop& loop, Http2Role role, net::Stream& stream,
                           Http2Events& events)
    : loop_(loop),
      stream_(stream),
      events_(events),
      session_(Callbacks::make(*this, role)),
      work_(std::make_shared<net::Event>(loop)) {
  const std::array<nghttp2_settings_entry, 4> settings{
      nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kMaxStreams},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMaxHeadBytes},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}};
  // A server says nothing of pushing.
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(),
                          settings.size() - (role == Http2Role::server ? 1u : 0u));
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
}

Http2Session::~Http2Session() {
  nghttp2_session_del(session_);
}

void Http2Session::wake() {
  work_->set();
}

void Http2Session::stop() {
  stopped_ = true;
  wake();
}

Status Http2Session::receive(std::string_view bytes) {
  // SAFETY: chars as bytes.
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  const ssize_t used = nghttp2_session_mem_recv(session_, data, bytes.size());
  wake();
  if (used < 0) return broken(static_cast<int>(used), "what the peer sent");
  return {};
}

Status Http2Session::run_reader(net::Task& task) {
  std::string buffer;
  while (true) {
    PD_TRY(stream_.wait_readable(task));
    buffer.resize(kSessionRead);
    const size_t count = PD_TRY(stream_.read(task, buffer));
    if (count == 0) return {};
    PD_TRY(receive(std::string_view(buffer).substr(0, count)));
    if (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0)
      return {};
  }
}

Status Http2Session::run_writer(net::Task& task) {
  std::string out;
  while (!loop_.is_ending()) {
    const uint8_t* bytes = nullptr;
    const ssize_t count = nghttp2_session_mem_send(session_, &bytes);
    if (count < 0) return broken(static_cast<int>(count), "what is to be sent");
    out.append(bytes, bytes + count);
    if (count > 0 && out.size() < kSessionRead / 2) continue;
    if (!out.empty()) {
      PD_TRY(stream_.write(task, out));
      out.clear();
      continue;
    }
    if (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0)
      break;
    if (stopped_) break;
    const auto work = work_;
    work->wait(task);
    work_ = std::make_shared<net::Event>(loop_);
  }
  return {};
}

Result<Http2StreamId> Http2Session::send_request(const Fields& fields,
                                                 std::shared_ptr<Http2Outflow> body) {
  const auto pairs = as_pairs(fields);
  const nghttp2_data_provider provider{.source = {}, .read_callback = Callbacks::read_body};
  const int32_t stream = nghttp2_submit_request(session_, nullptr, pairs.data(), pairs.size(),
                                                body != nullptr ? &provider : nullptr, nullptr);
  if (stream < 0)
    return Error(Code::unavailable, std::string("HTTP/2: ") + nghttp2_strerror(stream));
  if (body != nullptr) bodies_[stream] = std::move(body);
  wake();
  return stream;
}

Status Http2Session::send_response(Http2StreamId stream, const Fields& fields,
                                   std::shared_ptr<Http2Outflow> body) {
  const auto pairs = as_pairs(fields);
  const nghttp2_data_provider provider{.source = {}, .read_callback = Callbacks::read_body};
  const int code = nghttp2_submit_response(session_, stream, pairs.data(), pairs.size(),
                                           body != nullptr ? &provider : nullptr);
  if (code != 0) return Error(Code::unavailable, std::string("HTTP/2: ") + nghttp2_strerror(code));
  if (body != nullptr) bodies_[stream] = std::move(body);
  wake();
  return {};
}

Status Http2Session::send_interim(Http2StreamId stream, const Fields& fields) {
  const auto pairs = as_pairs(fields);
  const int code = nghttp2_submit_headers(session_, NGHTTP2_FLAG_NONE, stream, nullptr,
                                          pairs.data(), pairs.size(), nullptr);
  wake();
  return code == 0 ? Status()
                   : Error(Code::unavailable, std::string("HTTP/2: ") + nghttp2_strerror(code));
}

void Http2Session::resume(Http2StreamId stream) {
  nghttp2_session_resume_data(session_, stream);
  wake();
}

void Http2Session::reset(Http2StreamId stream, uint32_t error) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, error);
  wake();
}

void Http2Session::give_back(Http2StreamId stream, size_t bytes) {
  if (nghttp2_session_consume(session_, stream, bytes) != 0)
    nghttp2_session_consume_connection(session_, bytes);
  wake();
}

void Http2Session::go_away() {
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_), 0, nullptr, 0);
  wake();
}

}  // namespace paddock::egress::http
