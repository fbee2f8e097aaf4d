#include "agent/output_ring.h"

#include <algorithm>
#include <iterator>

namespace paddock::agent {
namespace {

// Small pieces are joined up to this size, large ones split: it is what is dropped at a time.
constexpr size_t kPiece = 16u << 10;

}  // namespace

void OutputRing::append(Output output, std::string_view bytes) {
  while (!bytes.empty()) {
    const bool joins =
        !pieces_.empty() && pieces_.back().output == output && pieces_.back().bytes.size() < kPiece;
    if (!joins) pieces_.push_back({next_, output, {}});
    std::string& last = pieces_.back().bytes;
    const std::string_view piece = bytes.substr(0, kPiece - last.size());
    last.append(piece);
    bytes.remove_prefix(piece.size());
    size_ += piece.size();
    next_ += piece.size();
    budget_.used += piece.size();
    while (size_ > capacity_ || (budget_.used > budget_.most && pieces_.size() > 1)) drop_oldest();
  }
}

void OutputRing::drop_oldest() {
  const size_t dropped = pieces_.front().bytes.size();
  pieces_.pop_front();
  size_ -= dropped;
  budget_.used -= dropped;
}

OutputRing::Piece OutputRing::at(uint64_t sequence, size_t most) const {
  const auto behind = std::ranges::upper_bound(pieces_, sequence, {}, &Kept::first);
  const Kept& kept = *std::prev(behind);
  return {kept.output, std::string_view(kept.bytes).substr(sequence - kept.first, most)};
}

void OutputRing::clear() {
  while (!pieces_.empty()) drop_oldest();
}

}  // namespace paddock::agent
