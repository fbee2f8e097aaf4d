#include "agent/input_stream.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace paddock::agent {

void InputStream::attach(wire::StreamId stream, wire::AgentChannel& channel) {
  stream_ = stream;
  uncredited_ = pending_.size() - written_;
  if (!fd_.is_open()) channel.reset_stream(stream);
}

void InputStream::pump(wire::AgentChannel& channel) {
  while (fd_.is_open() && writable_ && has_unwritten()) {
    const std::string_view rest = std::string_view(pending_).substr(written_);
    const ssize_t n = ::write(fd_.get(), rest.data(), rest.size());
    if (n >= 0) {
      written_ += static_cast<size_t>(n);
      const size_t without_credit = std::min(uncredited_, static_cast<size_t>(n));
      uncredited_ -= without_credit;
      channel.consumed(stream_, static_cast<size_t>(n) - without_credit);
    } else if (errno == EAGAIN) {
      writable_ = false;
    } else if (errno != EINTR) {  // nobody reads it
      channel.reset_stream(stream_);
      pending_.clear();
      written_ = 0;
      uncredited_ = 0;
      fd_.reset();
    }
  }
  if (ended_ && !has_unwritten() && kind_ == Kind::pipe) fd_.reset();
}

}  // namespace paddock::agent
