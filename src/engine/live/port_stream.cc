#include "engine/live/port_stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace paddock::engine {
namespace {

constexpr std::chrono::seconds kConnectPatience{10};

Error broken() {
  return Error(Code::unavailable, "the connection to the port was broken off");
}

}  // namespace

Result<std::unique_ptr<PortStream>> PortStream::open(net::Task& task,
                                                     std::shared_ptr<AgentSession> session,
                                                     uint16_t port) {
  std::unique_ptr<PortStream> made(new PortStream(net::loop_of(task), std::move(session)));
  made->stream_ = PD_TRY(made->session_->open_stream(*made, wire::kConnectionCredit));
  wire::ToAgent message;
  message.mutable_forward()->set_port(port);
  message.mutable_forward()->set_stream(made->stream_);
  (void)PD_TRY(made->session_->call(task, std::move(message), kConnectPatience));
  return made;
}

PortStream::~PortStream() {
  if (stream_ == 0) return;
  is_over() ? session_->close_stream(stream_) : session_->abort_stream(stream_);
}

void PortStream::on_data(wire::StreamId, std::string bytes) {
  buffer_.append(bytes);
  changed_.notify_all();
}
void PortStream::on_end(wire::StreamId) {
  read_ended_ = true;
  changed_.notify_all();
}
void PortStream::on_reset(wire::StreamId) {
  unwanted_ = true;
  changed_.notify_all();
}
void PortStream::on_credit(wire::StreamId) {
  changed_.notify_all();
}
void PortStream::on_abort(wire::StreamId) {
  broken_ = true;
  changed_.notify_all();
}

Status PortStream::wait_readable(net::Task& task) {
  while (taken_ == buffer_.size()) {
    if (broken_ || loop_.is_ending()) return broken();
    if (read_ended_) return {};
    changed_.wait(task);
  }
  return {};  // what came before a break is still there
}

Result<size_t> PortStream::read(net::Task& task, std::span<char> into) {
  PD_TRY(wait_readable(task));
  const size_t count = std::min(into.size(), buffer_.size() - taken_);
  std::memcpy(into.data(), buffer_.data() + taken_, count);
  taken_ += count;
  if (taken_ == buffer_.size()) {
    std::string().swap(buffer_);
    taken_ = 0;
  }
  if (count > 0) session_->consumed(stream_, count);
  return count;
}

Status PortStream::write(net::Task& task, std::string_view bytes) {
  while (!bytes.empty()) {
    if (broken_ || loop_.is_ending()) return broken();
    if (unwanted_ || write_ended_) {
      return Error::from_errno(EPIPE, "writing to the port");
    }
    const size_t count = std::min(bytes.size(), session_->sendable(stream_));
    if (count == 0) {
      changed_.wait(task);
      continue;
    }
    session_->send_data(stream_, bytes.substr(0, count));
    bytes.remove_prefix(count);
  }
  return {};
}

Status PortStream::end_writing(net::Task&) {
  if (broken_) return broken();
  if (!std::exchange(write_ended_, true)) session_->end_stream(stream_);
  return {};
}

void PortStream::abort() {
  broken_ = true;
  changed_.notify_all();
}

}  // namespace paddock::engine
