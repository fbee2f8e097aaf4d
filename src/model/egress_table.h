// [[egress.rule]] and [[credential]] as values of a file (docs/egress.md), read into the model.
// Pure, and without a TOML library: the policy layer turns its own tree into PlainValues.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/egress.h"

namespace paddock::model {

struct PlainValue;
struct PlainMember;
using PlainList = std::vector<PlainValue>;
using PlainTable = std::vector<PlainMember>;

struct PlainValue {
  std::variant<std::string, int64_t, bool, PlainList, PlainTable> value;
};
// No std::pair: clang 14 asks what a pair can do while PlainValue is incomplete.
struct PlainMember {
  std::string name;
  PlainValue value;
};

// invalid_argument: a key that is none (with the nearest that is), a value of another type or
// shape. What a rule means is checked when it is compiled; `origin` and `authority` are the
// caller's to set.
Result<EgressRule> read_egress_rule(const PlainTable& table);
Result<Credential> read_credential(const PlainTable& table);

// --allow HOST[:PORT]: a rule that lets this host through, on its port or on 80 and 443. An IPv6
// address goes in brackets.
Result<EgressRule> read_allow_flag(std::string_view text);

}  // namespace paddock::model
