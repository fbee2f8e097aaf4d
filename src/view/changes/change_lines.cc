#include "view/changes/change_lines.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <vector>

namespace paddock::view {
namespace {

constexpr size_t kLookedAt = 8000;
constexpr int64_t kMaxEdits = 4000;  // the work grows with its square

using Lines = std::span<const uint32_t>;  // each line as the number of its text

class Interner {
 public:
  std::vector<uint32_t> lines_of(std::string_view text) {
    std::vector<uint32_t> lines;
    while (!text.empty()) {
      size_t newline = text.find('\n');
      size_t length = newline == std::string_view::npos ? text.size() : newline + 1;
      auto next = static_cast<uint32_t>(numbers_.size());
      lines.push_back(numbers_.emplace(text.substr(0, length), next).first->second);
      text.remove_prefix(length);
    }
    return lines;
  }

 private:
  std::unordered_map<std::string_view, uint32_t> numbers_;
};

// Removes what both begin and end with.
void trim(Lines& a, Lines& b) {
  size_t front = 0, most = std::min(a.size(), b.size());
  while (front < most && a[front] == b[front]) ++front;
  a = a.subspan(front);
  b = b.subspan(front);
  most -= front;
  size_t back = 0;
  while (back < most && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  a = a.first(a.size() - back);
  b = b.first(b.size() - back);
}

// Myers' greedy algorithm: the length of a shortest edit script, or -1 beyond kMaxEdits. Only the
// furthest point of each diagonal is kept.
int64_t shortest_edits(Lines a, Lines b) {
  auto n = static_cast<int64_t>(a.size()), m = static_cast<int64_t>(b.size());
  int64_t most = std::min(n + m, kMaxEdits);
  std::vector<int64_t> furthest(static_cast<size_t>(2 * most + 3), 0);
  auto at = [&](int64_t k) -> int64_t& { return furthest[static_cast<size_t>(k + most + 1)]; };
  for (int64_t d = 0; d <= most; ++d) {
    for (int64_t k = -d; k <= d; k += 2) {
      bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
      int64_t x = down ? at(k + 1) : at(k - 1) + 1;
      int64_t y = x - k;
      while (x < n && y >= 0 && y < m && a[static_cast<size_t>(x)] == b[static_cast<size_t>(y)]) {
        ++x;
        ++y;
      }
      at(k) = x;
      if (x >= n && y >= m) return d;
    }
  }
  return -1;
}

}  // namespace

bool is_binary(std::string_view bytes) {
  return bytes.substr(0, kLookedAt).find('\0') != std::string_view::npos;
}

LineDiff diff_lines(std::string_view before, std::string_view after) {
  Interner interner;
  std::vector<uint32_t> old_lines = interner.lines_of(before), new_lines = interner.lines_of(after);
  Lines a = old_lines, b = new_lines;
  trim(a, b);
  int64_t edits = a.empty() || b.empty() ? -1 : shortest_edits(a, b);
  if (edits < 0) return {b.size(), a.size()};
  auto grown = static_cast<int64_t>(b.size()) - static_cast<int64_t>(a.size());
  return {static_cast<uint64_t>((edits + grown) / 2), static_cast<uint64_t>((edits - grown) / 2)};
}

}  // namespace paddock::view
