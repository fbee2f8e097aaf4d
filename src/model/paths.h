// A path of the host and a path inside a sandbox are different types, so that neither is used for
// the other by accident. Both are absolute, normalised by their maker, and bytes (not text).
#pragma once

#include <compare>
#include <string>
#include <utility>

namespace paddock::model {

template <typename Side>
class Path {
 public:
  Path() = default;
  explicit Path(std::string text) : text_(std::move(text)) {}

  const std::string& str() const { return text_; }
  const char* c_str() const { return text_.c_str(); }
  bool empty() const { return text_.empty(); }
  auto operator<=>(const Path&) const = default;

  Path operator/(const std::string& child) const {
    return Path(text_ == "/" ? "/" + child : text_ + "/" + child);
  }
  // True for the path itself and everything below it.
  bool contains(const Path& other) const {
    if (text_ == "/" || other.text_ == text_) return true;
    return other.text_.size() > text_.size() && other.text_.compare(0, text_.size(), text_) == 0 &&
           other.text_[text_.size()] == '/';
  }

 private:
  std::string text_;
};

using HostPath = Path<struct HostSide>;
using GuestPath = Path<struct GuestSide>;

}  // namespace paddock::model
