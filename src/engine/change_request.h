// What `paddock allow` and `paddock deny` say to a process that owns a sandbox, and what comes
// back. One request and one answer for each connection, both a line of JSON. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/enum_names.h"
#include "base/result.h"

namespace paddock::engine {

inline constexpr size_t kMaxChangeBytes = 4096;

enum class ChangeVerb { allow, deny };
inline constexpr EnumNames<ChangeVerb, 2> kChangeVerbNames{
    {{ChangeVerb::allow, "allow"}, {ChangeVerb::deny, "deny"}}};

struct ChangeRequest {
  ChangeVerb verb = ChangeVerb::deny;
  std::string host;  // "HOST", "HOST:PORT"
};

// data_corrupt: it is none.
std::string encode(const ChangeRequest& request);
Result<ChangeRequest> parse_change_request(std::string_view line);

// An answer is what was done, in words, or the error with its code and remedy. What is read is
// printable: whoever asks may be another user (root) than who answers.
std::string encode_answer(const Result<std::string>& answer);
Result<std::string> parse_answer(std::string_view line);

}  // namespace paddock::engine
