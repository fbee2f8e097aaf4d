#include "net/pump.h"

#include <memory>
#include <vector>

#include "net/both_ways.h"
#include "net/burst.h"

namespace paddock::net {
namespace {

constexpr size_t kBuffer = 64 * 1024;
constexpr size_t kKeptBuffers = 32;

// Buffers of the loop's thread; one is taken only while bytes flow.
class Buffer {
 public:
  Buffer() {
    if (spare().empty()) {
      bytes_ = std::make_unique_for_overwrite<char[]>(kBuffer);
    } else {
      bytes_ = std::move(spare().back());
      spare().pop_back();
    }
  }
  ~Buffer() {
    if (spare().size() < kKeptBuffers) spare().push_back(std::move(bytes_));
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::span<char> span() { return {bytes_.get(), kBuffer}; }

 private:
  static std::vector<std::unique_ptr<char[]>>& spare() {
    thread_local std::vector<std::unique_ptr<char[]>> buffers;
    return buffers;
  }

  std::unique_ptr<char[]> bytes_;
};

Status write_rest(Task& task, Stream& to, const Tap& tap) {
  if (!tap) return {};
  const std::string_view rest = PD_TRY(tap({}));
  return rest.empty() ? Status() : to.write(task, rest);
}

// While reading fills a good part of the buffer. `paused`: give the buffer back and wait.
Result<Flow> pump_burst(Task& task, Stream& from, Stream& to, const Tap& tap) {
  Buffer buffer;
  for (int run = 1;; ++run) {
    const size_t count = PD_TRY(from.read(task, buffer.span()));
    if (count == 0) return Flow::ended;
    const std::string_view passed = PD_TRY(tap ? tap({buffer.span().data(), count})
                                               : std::string_view(buffer.span().data(), count));
    PD_TRY(to.write(task, passed));
    if (count < kBuffer / 4) return Flow::paused;
    if (run % kRunsBeforeOthers == 0) task.yield();
  }
}

}  // namespace

Status pump(Task& task, Stream& from, Stream& to, const Tap& tap) {
  while (true) {
    PD_TRY(from.wait_readable(task));
    if (PD_TRY(pump_burst(task, from, to, tap)) == Flow::paused) continue;
    PD_TRY(write_rest(task, to, tap));
    return to.end_writing(task);
  }
}

Status pump_both_ways(Task& task, Stream& a, Stream& b, Taps taps) {
  return both_ways(
      task, a, b, [&](Task& t) { return pump(t, a, b, taps.a_to_b); },
      [&](Task& t) { return pump(t, b, a, taps.b_to_a); });
}

}  // namespace paddock::net
