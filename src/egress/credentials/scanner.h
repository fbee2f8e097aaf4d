// Finds texts in a byte stream, however it is cut and whichever way they are written: as they are,
// in base64 (with line breaks in it, too), with bytes escaped as in URLs, or as in JSON. What may
// be the beginning of a text, four bytes of it at least, is held back until the next bytes tell.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "egress/credentials/pattern_set.h"

namespace paddock::egress {

// `stop`: nothing from the first text on is passed. `mask`: its bytes are passed as asterisks.
enum class OnFound { stop, mask };

// One stream, one thread.
class Scanner {
 public:
  Scanner(std::shared_ptr<const PatternSet> patterns, OnFound on_found);
  ~Scanner();
  Scanner(Scanner&&) noexcept;
  Scanner& operator=(Scanner&&) noexcept;

  // Appends what may be passed to `out` and returns the number of a text that was found. In mode
  // `stop` the stream ends with it.
  std::optional<size_t> feed(std::string_view bytes, std::string& out);
  // The stream is over: what was held back is no text.
  void finish(std::string& out);

  // A whole text at once.
  static std::optional<size_t> find(const std::shared_ptr<const PatternSet>& patterns,
                                    std::string_view text);
  static std::string mask(const std::shared_ptr<const PatternSet>& patterns, std::string_view text);

 private:
  class Lane;
  struct Hit;

  void note(const Hit& hit);

  std::shared_ptr<const PatternSet> patterns_;
  OnFound on_found_;
  std::vector<Lane> lanes_;
  std::string held_;      // seen and not passed yet
  uint64_t held_at_ = 0;  // position in the stream of its first byte
  std::optional<size_t> found_;
  uint64_t found_at_ = 0;
};

}  // namespace paddock::egress
