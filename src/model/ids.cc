#include "model/ids.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

#include "base/strings.h"
#include "model/owner.h"
#include "model/push_id.h"

namespace paddock::model {
namespace {

constexpr size_t kLength = 12;
constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";

std::string encode(std::string_view raw) {
  uint64_t bits = 0;
  for (size_t i = 0; i < 8 && i < raw.size(); ++i) bits = bits << 8 | static_cast<uint8_t>(raw[i]);
  std::string text;
  for (size_t i = 0; i < kLength; ++i, bits >>= 5) text += kAlphabet[bits & 31];
  return text;
}

}  // namespace

template <typename Tag>
Id<Tag> Id<Tag>::from_entropy(std::string_view raw) {
  Id id;
  id.text_ = encode(raw);
  return id;
}

template <typename Tag>
Result<Id<Tag>> Id<Tag>::parse(std::string_view text) {
  bool valid = text.size() == kLength && std::all_of(text.begin(), text.end(), [](char c) {
                 return kAlphabet.find(c) != std::string_view::npos;
               });
  if (!valid) {
    return Error(Code::invalid_argument, fmt::format("'{}' is not an id", printable(text)));
  }
  Id id;
  id.text_ = text;
  return id;
}

template class Id<SandboxTag>;
template class Id<ViewTag>;
template class Id<KeyTag>;
template class Id<PushTag>;

}  // namespace paddock::model
