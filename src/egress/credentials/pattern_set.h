// Texts to look for in streams, in the forms in which programs write them: as they are, and in
// base64 (both alphabets, at any offset in what was encoded). An Aho-Corasick automaton. Immutable.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::egress {

class PatternSet {
 public:
  // `texts[i]` is found as i. Texts shorter than kMinText are left out: they would turn up by
  // chance.
  explicit PatternSet(const std::vector<std::string>& texts);

  static constexpr size_t kMinText = 8;
  using State = uint32_t;  // 0: nothing of any text has been seen

  State next(State state, char c) const {
    return next_[state * classes_ + class_[static_cast<unsigned char>(c)]];
  }
  // How many of the last bytes may be the beginning of a text.
  size_t depth(State state) const { return nodes_[state].depth; }
  // The text that ends here: its number, or -1; and how many bytes long.
  int32_t found(State state) const { return nodes_[state].text; }
  size_t found_size(State state) const { return nodes_[state].size; }

  bool empty() const { return nodes_.size() == 1; }
  size_t longest() const { return longest_; }

 private:
  struct Node {
    uint32_t depth = 0;
    int32_t text = -1;
    uint32_t size = 0;
  };

  void collect_classes(const std::vector<std::string>& forms);
  void add(std::string_view form, int32_t text);
  void link();

  std::array<uint8_t, 256> class_{};  // bytes that no form has share class 0
  size_t classes_ = 1;
  size_t longest_ = 0;
  std::vector<Node> nodes_;
  std::vector<State> next_;  // nodes × classes
};

// The text as it is and in base64. Of base64 only what does not depend on the bytes around it.
std::vector<std::string> written_forms(std::string_view text);

}  // namespace paddock::egress
