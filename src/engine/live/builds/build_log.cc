#include "engine/live/builds/build_log.h"

#include <fmt/core.h>

#include <utility>

#include "base/strings.h"
#include "sys/clock.h"

namespace paddock::engine {
namespace {

constexpr size_t kMaxLines = 20'000;
constexpr size_t kMaxBytes = 4u << 20;
constexpr size_t kMaxLine = 4096;

}  // namespace

void BuildLog::begin_step(std::string step, std::string title) {
  end_output();
  step_ = std::move(step);
  title_ = std::move(title);
}

void BuildLog::add(BuildLevel level, std::string message) {
  const bool fits = lines_.size() < kMaxLines && bytes_ + message.size() <= kMaxBytes;
  if (!fits && level != BuildLevel::error) {
    if (std::exchange(is_full_, true)) return;
    level = BuildLevel::warn;
    message = "the log is full: what follows is not kept";
  }
  bytes_ += message.size();
  lines_.push_back({sys::wall_clock_ms(), level, std::move(message), step_});
}

BuildLog::Partial& BuildLog::partial_of(std::string_view stream) {
  for (Partial& partial : partial_) {
    if (partial.stream == stream) return partial;
  }
  return partial_.emplace_back(Partial{std::string(stream), ""});
}

void BuildLog::add_line(const Partial& partial) {
  add(BuildLevel::info,
      fmt::format("{} [{}]: {}", title_, partial.stream, printable(partial.bytes)));
}

void BuildLog::add_output(std::string_view stream, std::string_view bytes) {
  Partial& partial = partial_of(stream);
  while (!bytes.empty()) {
    const size_t room = kMaxLine - partial.bytes.size();
    const size_t end = bytes.substr(0, room).find('\n');
    const bool is_whole = end != std::string_view::npos;
    partial.bytes += bytes.substr(0, is_whole ? end : room);
    bytes.remove_prefix(is_whole ? end + 1 : std::min(room, bytes.size()));
    if (!is_whole && partial.bytes.size() < kMaxLine) return;
    add_line(partial);
    partial.bytes.clear();
  }
}

void BuildLog::end_output() {
  for (const Partial& partial : partial_) {
    if (!partial.bytes.empty()) add_line(partial);
  }
  partial_.clear();
}

}  // namespace paddock::engine
