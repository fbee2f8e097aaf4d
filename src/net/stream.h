// A two-way byte stream, whatever carries it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/result.h"
#include "net/task.h"

namespace paddock::net {

// Used on one loop's thread; one coroutine may read while another writes. After an error of either
// kind the stream is of no more use.
class Stream {
 public:
  virtual ~Stream() = default;

  // At least one byte, as many as are there and fit; 0 when the peer has ended its side.
  virtual Result<size_t> read(Task& task, std::span<char> into) = 0;
  // Until read() would return, or nearly so: no buffer is needed while nothing comes.
  virtual Status wait_readable(Task& task) = 0;
  // All of them. Waits while the peer does not read.
  virtual Status write(Task& task, std::string_view bytes) = 0;
  // Half-close: the peer reads the end; this side may still read.
  virtual Status end_writing(Task& task) = 0;
  // At once, with a reset where the carrier knows one; reads and writes that wait fail.
  virtual void abort() = 0;
};

}  // namespace paddock::net
