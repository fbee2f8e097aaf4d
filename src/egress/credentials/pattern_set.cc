#include "egress/credentials/pattern_set.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <set>

#include "base/base64.h"

namespace paddock::egress {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

// The part of base64(`offset` unknown bytes + text + …) that the text alone determines.
std::string base64_core(std::string_view text, size_t offset) {
  const std::string encoded = base64_encode(std::string(offset, '\0') + std::string(text));
  const size_t begin = (8 * offset + 5) / 6;
  const size_t end = 8 * (offset + text.size()) / 6;
  return encoded.substr(begin, end - begin);
}

}  // namespace

std::vector<std::string> written_forms(std::string_view text) {
  std::set<std::string> forms{std::string(text)};
  for (size_t offset = 0; offset < 3; ++offset) {
    std::string core = base64_core(text, offset);
    forms.insert(core);
    std::replace(core.begin(), core.end(), '+', '-');
    std::replace(core.begin(), core.end(), '/', '_');
    forms.insert(std::move(core));
  }
  return {forms.begin(), forms.end()};
}

PatternSet::PatternSet(const std::vector<std::string>& texts) : nodes_(1) {
  std::vector<std::pair<std::string, int32_t>> forms;
  std::vector<std::string> all;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].size() < kMinText) continue;
    for (std::string& form : written_forms(texts[i])) {
      all.push_back(form);
      forms.emplace_back(std::move(form), static_cast<int32_t>(i));
    }
  }
  collect_classes(all);
  next_.assign(classes_, kNone);
  for (const auto& [form, text] : forms) add(form, text);
  link();
}

void PatternSet::collect_classes(const std::vector<std::string>& forms) {
  for (const std::string& form : forms) {
    longest_ = std::max(longest_, form.size());
    for (char c : form) {
      uint8_t& id = class_[static_cast<unsigned char>(c)];
      // All 256 bytes in use would need one class more than a byte counts; the last two then share.
      if (id == 0) id = static_cast<uint8_t>(std::min<size_t>(classes_++, 255));
    }
  }
  classes_ = std::min<size_t>(classes_, 256);
}

void PatternSet::add(std::string_view form, int32_t text) {
  State state = 0;
  for (char c : form) {
    const size_t slot = state * classes_ + class_[static_cast<unsigned char>(c)];
    if (next_[slot] == kNone) {
      next_[slot] = static_cast<State>(nodes_.size());
      nodes_.push_back({.depth = nodes_[state].depth + 1, .text = -1, .size = 0});
      next_.resize(next_.size() + classes_, kNone);
    }
    state = next_[slot];
  }
  nodes_[state].text = text;
  nodes_[state].size = static_cast<uint32_t>(form.size());
}

// Missing edges lead where the longest proper suffix would go; a suffix that is a text is found
// too.
void PatternSet::link() {
  std::vector<State> fallback(nodes_.size(), 0);
  std::queue<State> breadth;
  for (size_t c = 0; c < classes_; ++c) {
    State& child = next_[c];
    if (child == kNone) {
      child = 0;
    } else {
      breadth.push(child);
    }
  }
  while (!breadth.empty()) {
    const State state = breadth.front();
    breadth.pop();
    const Node& suffix = nodes_[fallback[state]];
    if (nodes_[state].text < 0 && suffix.text >= 0) {
      nodes_[state].text = suffix.text;
      nodes_[state].size = suffix.size;
    }
    for (size_t c = 0; c < classes_; ++c) {
      State& child = next_[state * classes_ + c];
      const State by_suffix = next_[fallback[state] * classes_ + c];
      if (child == kNone) {
        child = by_suffix;
      } else {
        fallback[child] = by_suffix;
        breadth.push(child);
      }
    }
  }
}

}  // namespace paddock::egress
