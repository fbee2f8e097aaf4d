// Hostile bytes into both sides of the channel. Byte 0 seeds the cuts; the rest is the byte stream.
// Checked beside the sanitizers: the same bytes in other pieces give the same events and the same
// verdict, a writer never gets past its credit, and a dead channel stays dead.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/testing/fuzz.h"
#include "wire/channel.h"

namespace paddock::wire {
namespace {

using testing::require;

template <typename C>
class Run {
 public:
  Run() {
    for (StreamId id = 1; id <= 4; ++id) require(channel_.open_stream(id).ok());
    channel_.send_data(1, std::string(1000, 'x'));
    channel_.reset_stream(3);
    channel_.close_stream(4);
  }

  // Returns false once the channel has seen a violation.
  bool feed(std::string_view bytes) {
    const bool ok = channel_.receive(bytes).ok();
    while (auto event = channel_.next_event()) note(*event);
    channel_.written(channel_.output().size());
    if (!ok) require(!channel_.receive("x").ok());
    return ok;
  }

  const std::string& seen() const { return seen_; }

 private:
  void note(const typename C::Event& event) {
    if (auto* data = std::get_if<StreamData>(&event)) {
      seen_ += "d" + std::to_string(data->stream) + data->bytes;
      require(data->stream != 3 && data->stream != 4);  // a message may open others
      require(data->stream != 2 || (unread_of_2_ += data->bytes.size()) <= kInitialCredit);
      if (data->stream == 1) channel_.consumed(1, data->bytes.size());
    } else if (auto* end = std::get_if<StreamEnd>(&event)) {
      seen_ += "e" + std::to_string(end->stream);
    } else if (auto* reset = std::get_if<StreamReset>(&event)) {
      seen_ += "r" + std::to_string(reset->stream);
      require(channel_.sendable(reset->stream) == 0);
    } else if (auto* abort = std::get_if<StreamAbort>(&event)) {
      seen_ += "a" + std::to_string(abort->stream);
      require(channel_.sendable(abort->stream) == 0);
    } else if (auto* credit = std::get_if<CreditGained>(&event)) {
      seen_ += "c" + std::to_string(credit->stream);
      require(channel_.sendable(credit->stream) <= kInitialCredit);
    } else {
      seen_ += "m";
    }
  }

  C channel_;
  std::string seen_;
  size_t unread_of_2_ = 0;
};

template <typename C>
void check(uint32_t seed, std::string_view bytes) {
  Run<C> whole;
  const bool whole_ok = whole.feed(bytes);
  Run<C> pieces;
  bool pieces_ok = true;
  while (!bytes.empty() && pieces_ok) {
    seed = seed * 1664525u + 1013904223u;
    const size_t count = std::min<size_t>(bytes.size(), 1 + (seed >> 24) % 40);
    pieces_ok = pieces.feed(bytes.substr(0, count));
    bytes.remove_prefix(count);
  }
  require(whole_ok == pieces_ok);
  require(whole.seen() == pieces.seen());
}

}  // namespace
}  // namespace paddock::wire

PD_FUZZ_TARGET(frames) {
  if (bytes.empty()) return;
  const uint32_t seed = static_cast<uint8_t>(bytes[0]);
  bytes.remove_prefix(1);
  paddock::wire::check<paddock::wire::HostChannel>(seed, bytes);
  paddock::wire::check<paddock::wire::AgentChannel>(seed, bytes);
}
