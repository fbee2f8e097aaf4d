#include "agent/input_stream.h"

#include <unistd.h>

#include <cerrno>

namespace paddock::agent {

void InputStream::pump(wire::AgentChannel& channel) {
  while (fd_.is_open() && writable_ && !pending_.empty()) {
    const ssize_t n = ::write(fd_.get(), pending_.data(), pending_.size());
    if (n >= 0) {
      pending_.erase(0, static_cast<size_t>(n));
      channel.consumed(stream_, static_cast<size_t>(n));
    } else if (errno == EAGAIN) {
      writable_ = false;
    } else if (errno != EINTR) {  // nobody reads it
      channel.reset_stream(stream_);
      pending_.clear();
      fd_.reset();
    }
  }
  if (ended_ && pending_.empty() && kind_ == Kind::pipe) fd_.reset();
}

}  // namespace paddock::agent
