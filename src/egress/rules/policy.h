// The rules of one sandbox, compiled: what every decision of the gate comes from.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "egress/rules/rule.h"

namespace paddock::egress {

// `needs_bytes`, `needs_opening`: ask again when more is seen. `hold`: a push that must be reviewed
// before it may leave.
enum class Answer { allow, deny, needs_bytes, needs_opening, hold };

struct Verdict {
  Answer answer = Answer::deny;
  // That decided: of an allow one of each list, of a denial the one that refuses, none when no rule
  // allows.
  std::vector<const Rule*> rules;
  bool audited = false;  // let through by an audit rule only
  std::string reason;    // of a denial, for the program and the record

  // "egress" or "egress:NAME", as in model::Denial::rule.
  std::string rule_name() const;
};

// Immutable after compile(); safe from any thread. Verdicts point into it.
class Policy {
 public:
  // invalid_argument names the rule and where it is written.
  static Result<std::shared_ptr<const Policy>> compile(const model::EgressPolicy& source);

  // Whether a name may be resolved at all: some port of it could be allowed. Never asks for more.
  Verdict resolve(const HostName& name) const;
  Verdict decide(const Target& target, const Seen& seen) const;
  // An explicit refusal of a host, for names that turn up inside of a connection to another one.
  // Implicit denial does not count.
  std::optional<Verdict> refusal_of(const Host& host, uint16_t port) const;

  // Whether an admin rule for the target names this very address. Whether the target is allowed is
  // for decide(), in every list.
  bool names_exactly(const Target& target, const model::IpAddress& address) const;
  // Blocks of literal addresses that some rule lets through, for the sandbox's redirection.
  std::vector<model::Cidr> literal_blocks() const;
  bool empty() const;  // nothing is ever allowed

 private:
  std::vector<std::vector<Rule>> lists_;
};

}  // namespace paddock::egress
