#include "egress/credentials/scanner.h"

#include <algorithm>
#include <array>

#include "base/hex.h"

namespace paddock::egress {

// One reading of the stream: which bytes stand for which.
enum class Reading { plain, unwrapped, url_escapes, json_escapes };

namespace {

// Fewer bytes than these begin a text too often by chance, and a program that waits for the answer
// to a message that ends in them would wait for ever. No text is that short.
constexpr size_t kMinHeld = PatternSet::kMinText / 2;

constexpr std::array kReadings{Reading::plain, Reading::unwrapped, Reading::url_escapes,
                               Reading::json_escapes};

// A chunk without these reads the same as the plain one.
std::string_view triggers(Reading reading) {
  switch (reading) {
    case Reading::plain:
      return "";
    case Reading::unwrapped:
      return "\r\n";
    case Reading::url_escapes:
      return "%";
    case Reading::json_escapes:
      return "\\";
  }
  return "";
}

// An escape as far as it has been seen, and what becomes of it with one byte more.
enum class Escape { incomplete, whole, broken };

Escape judge_url_escape(std::string_view text, char& decoded) {
  int value = 0;
  for (char c : text.substr(1)) {
    if (hex_value(c) < 0) return Escape::broken;
    value = value << 4 | hex_value(c);
  }
  decoded = static_cast<char>(value);
  return text.size() == 3 ? Escape::whole : Escape::incomplete;
}

Escape judge_json_escape(std::string_view text, char& decoded) {
  if (text.size() == 1) return Escape::incomplete;
  if (text[1] != 'u') {
    decoded = text[1];  // \/ \" \\ ; of the others the letter stands for a control
    return std::string_view("/\"\\").find(text[1]) != std::string_view::npos ? Escape::whole
                                                                             : Escape::broken;
  }
  int value = 0;
  for (char c : text.substr(2)) {
    if (hex_value(c) < 0) return Escape::broken;
    value = value << 4 | hex_value(c);
  }
  decoded = value < 0x80 ? static_cast<char>(value) : '\xff';  // no text of ours has it
  return text.size() == 6 ? Escape::whole : Escape::incomplete;
}

}  // namespace

// A text ended: the bytes of the stream that it covers.
struct Scanner::Hit {
  uint64_t begin;
  uint64_t end;
  size_t text;
};

// One reading and where the automaton stands in it.
class Scanner::Lane {
 public:
  Lane(const PatternSet& patterns, Reading reading)
      : patterns_(&patterns), reading_(reading), starts_(std::max<size_t>(patterns.longest(), 1)) {}

  // Calls on_hit for each text that ends in the bytes, which begin at `position` of the stream.
  template <typename F>
  void feed(std::string_view bytes, uint64_t position, F on_hit) {
    for (char c : bytes) take(c, position++, on_hit);
  }

  // Whether reading these bytes gives what the plain lane gives, from the same state.
  bool follows_plain(std::string_view bytes) const {
    return in_step_ && bytes.find_first_of(triggers(reading_)) == std::string_view::npos;
  }
  // Before this lane reads on its own: until now each byte stood for itself.
  void leave_step(const Lane& plain, uint64_t position) {
    if (!in_step_) return;
    in_step_ = false;
    breaks_ = 0;
    state_ = plain.state_;
    count_ = patterns_->depth(state_);
    for (size_t i = 0; i < count_; ++i) start_of(i) = position - count_ + i;
  }
  void rejoin(const Lane& plain) {
    in_step_ = in_step_ || (escape_.empty() && state_ == 0 && plain.state_ == 0);
  }

  // From where on bytes may belong to a text that has not ended.
  uint64_t frontier(uint64_t position) const {
    const size_t depth = patterns_->depth(state_);
    if (depth < kMinHeld) return position;
    if (reading_ == Reading::plain) return position - depth;
    if (in_step_) return position;  // the plain lane says it
    return start_of(count_ - depth);
  }

 private:
  uint64_t& start_of(size_t index) { return starts_[index % starts_.size()]; }
  uint64_t start_of(size_t index) const { return starts_[index % starts_.size()]; }

  template <typename F>
  void take(char c, uint64_t position, F on_hit) {
    if (!escape_.empty()) {
      extend_escape(c, position, on_hit);
    } else if ((reading_ == Reading::url_escapes && c == '%') ||
               (reading_ == Reading::json_escapes && c == '\\')) {
      escape_ = c;
      escape_at_ = position;
    } else if (reading_ == Reading::unwrapped && (c == '\n' || c == '\r') && breaks_ < 2) {
      ++breaks_;  // one line break; more of them belong to no text, and must not be held for ever
    } else {
      breaks_ = 0;
      read(c, position, position + 1, on_hit);
    }
  }

  template <typename F>
  void extend_escape(char c, uint64_t position, F on_hit) {
    escape_ += c;
    char decoded = 0;
    const Escape escape = reading_ == Reading::url_escapes ? judge_url_escape(escape_, decoded)
                                                           : judge_json_escape(escape_, decoded);
    if (escape == Escape::incomplete) return;
    const std::string text = std::move(escape_);
    escape_.clear();
    if (escape == Escape::whole) {
      read(decoded, escape_at_, position + 1, on_hit);
      return;
    }
    // Not an escape after all: its first byte stood for itself, and the rest is read again.
    const uint64_t begin = escape_at_;
    read(text[0], begin, begin + 1, on_hit);
    for (size_t i = 1; i < text.size(); ++i) take(text[i], begin + i, on_hit);
  }

  template <typename F>
  void read(char c, uint64_t begin, uint64_t end, F on_hit) {
    state_ = patterns_->next(state_, c);
    if (!in_step_) start_of(count_++) = begin;
    const int32_t text = patterns_->found(state_);
    if (text < 0) return;
    const size_t size = patterns_->found_size(state_);
    on_hit(Hit{in_step_ ? end - size : start_of(count_ - size), end, static_cast<size_t>(text)});
  }

  const PatternSet* patterns_;
  Reading reading_;
  PatternSet::State state_ = 0;
  bool in_step_ = true;           // as the plain lane: `starts_` is not kept then
  std::vector<uint64_t> starts_;  // ring: where each byte read begins in the stream
  size_t count_ = 0;              // bytes read since the lane left the step
  size_t breaks_ = 0;             // bytes of a line break that were passed over just now
  std::string escape_;            // begun and not whole
  uint64_t escape_at_ = 0;
};

Scanner::Scanner(std::shared_ptr<const PatternSet> patterns, OnFound on_found)
    : patterns_(std::move(patterns)), on_found_(on_found) {
  for (Reading reading : kReadings) lanes_.emplace_back(*patterns_, reading);
}
Scanner::~Scanner() = default;
Scanner::Scanner(Scanner&&) noexcept = default;
Scanner& Scanner::operator=(Scanner&&) noexcept = default;

void Scanner::note(const Hit& hit) {
  if (!found_ || hit.begin < found_at_) {
    found_ = hit.text;
    found_at_ = hit.begin;
  }
  if (on_found_ != OnFound::mask) return;
  for (uint64_t at = std::max(hit.begin, held_at_); at < hit.end; ++at) held_[at - held_at_] = '*';
}

std::optional<size_t> Scanner::feed(std::string_view bytes, std::string& out) {
  if (on_found_ == OnFound::stop && found_) return found_;
  if (patterns_->empty()) {
    out += bytes;
    return std::nullopt;
  }
  if (on_found_ == OnFound::mask) found_.reset();
  const uint64_t position = held_at_ + held_.size();
  held_ += bytes;
  Lane& plain = lanes_.front();
  for (size_t i = 1; i < lanes_.size(); ++i) {
    if (lanes_[i].follows_plain(bytes)) continue;
    lanes_[i].leave_step(plain, position);
    lanes_[i].feed(bytes, position, [&](const Hit& hit) { note(hit); });
  }
  plain.feed(bytes, position, [&](const Hit& hit) { note(hit); });
  const uint64_t end = held_at_ + held_.size();
  uint64_t frontier = plain.frontier(end);
  for (size_t i = 1; i < lanes_.size(); ++i) {
    lanes_[i].rejoin(plain);
    frontier = std::min(frontier, lanes_[i].frontier(end));
  }
  if (on_found_ == OnFound::stop && found_) frontier = std::min(frontier, found_at_);
  const size_t passed = frontier > held_at_ ? static_cast<size_t>(frontier - held_at_) : 0;
  out.append(held_, 0, passed);
  held_.erase(0, passed);
  held_at_ += passed;
  return found_;
}

void Scanner::finish(std::string& out) {
  if (on_found_ == OnFound::mask || !found_) out += held_;
  held_at_ += held_.size();
  held_.clear();
}

std::optional<size_t> Scanner::find(const std::shared_ptr<const PatternSet>& patterns,
                                    std::string_view text) {
  std::string ignored;
  return Scanner(patterns, OnFound::stop).feed(text, ignored);
}

std::string Scanner::mask(const std::shared_ptr<const PatternSet>& patterns,
                          std::string_view text) {
  std::string out;
  Scanner scanner(patterns, OnFound::mask);
  scanner.feed(text, out);
  scanner.finish(out);
  return out;
}

}  // namespace paddock::egress
