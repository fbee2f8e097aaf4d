// Names of things. An id is 12 characters of [a-z2-7] drawn from the kernel's entropy; users may
// give any unambiguous prefix of four or more.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "base/result.h"

namespace paddock::model {

template <typename Tag>
class Id {
 public:
  Id() = default;
  const std::string& str() const { return text_; }
  bool empty() const { return text_.empty(); }
  auto operator<=>(const Id&) const = default;

  // From `raw` bytes of entropy, at least 8 (surplus ignored).
  static Id from_entropy(std::string_view raw);
  // Exactly the form above: what goes into a path never comes from anything else.
  static Result<Id> parse(std::string_view text);

 private:
  std::string text_;
};

struct SandboxTag {};
struct ViewTag {};
using SandboxId = Id<SandboxTag>;
using ViewId = Id<ViewTag>;

}  // namespace paddock::model
