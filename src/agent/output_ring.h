// The latest output of a command, kept for a host that comes back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace paddock::agent {

// A bounded queue of pieces, the oldest dropped. Bytes have sequence numbers from 0 on, which count
// both outputs of the command together, in the order in which they were read. Not thread-safe.
class OutputRing {
 public:
  // What all rings of a sandbox may hold together: a ring that finds it used up drops its own
  // oldest.
  struct Budget {
    size_t most = 16u << 20;
    size_t used = 0;
  };
  enum class Output { standard, error };
  struct Piece {
    Output output;
    std::string_view bytes;
  };

  // `budget` outlives it.
  OutputRing(size_t capacity, Budget& budget) : capacity_(capacity), budget_(budget) {}
  ~OutputRing() { clear(); }
  OutputRing(const OutputRing&) = delete;
  OutputRing& operator=(const OutputRing&) = delete;

  void append(Output output, std::string_view bytes);
  uint64_t first() const { return next_ - size_; }  // number of the first byte that is kept
  uint64_t next() const { return next_; }           // of the next one to come
  size_t size() const { return size_; }
  // What stands at `sequence`, in one piece of at most `most` bytes. Precondition: first() <=
  // sequence < next(). Valid until the next append().
  Piece at(uint64_t sequence, size_t most) const;
  // Drops what is kept; numbers go on.
  void clear();

 private:
  struct Kept {
    uint64_t first;  // its number
    Output output;
    std::string bytes;
  };
  void drop_oldest();

  size_t capacity_;
  Budget& budget_;
  std::deque<Kept> pieces_;
  size_t size_ = 0;
  uint64_t next_ = 0;
};

}  // namespace paddock::agent
