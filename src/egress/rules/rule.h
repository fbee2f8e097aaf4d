// One compiled rule.
#pragma once

#include <string>
#include <vector>

#include "egress/names/host_pattern.h"
#include "egress/rules/git_match.h"
#include "egress/rules/http_match.h"
#include "egress/rules/port_set.h"
#include "egress/rules/seen.h"
#include "model/egress.h"
#include "model/ip_address.h"

namespace paddock::egress {

// Whether a connection meets a rule. `open`: TLS must be opened to tell. `more_bytes`: of the
// stream, of the request, or of what it pushes. `unknown`: it can no longer be told; a rule that
// refuses is met then, one that lets through is not. `hold`: a push that it wants reviewed first.
enum class Match { no, yes, more_bytes, open, unknown, hold };

// Immutable after compile(); safe from any thread.
class Rule {
 public:
  // `number` counts from 1 and is the name of a rule that has none.
  static Result<Rule> compile(const model::EgressRule& rule, size_t number);

  const std::string& name() const { return name_; }
  model::EgressAction action() const { return source_.action; }
  const model::EgressRule& source() const { return source_; }
  bool lets_through() const { return source_.action != model::EgressAction::deny; }

  bool covers(const Target& target) const;
  bool covers_host(const Host& host) const;
  Match matches(const Target& target, const Seen& seen) const;
  // Whether it decides on destination alone.
  bool is_unconditional() const;
  // Whether it is an administrator's and names this very address.
  bool names_exactly(const model::IpAddress& address) const;

  const PortSet& ports() const { return ports_; }
  const std::vector<HostPattern>& hosts() const { return hosts_; }
  const std::vector<model::Cidr>& addresses() const { return addresses_; }

 private:
  Match match_protocol(const Seen& seen) const;
  Match match_http(const Seen& seen) const;
  Match match_git(const Seen& seen) const;

  std::string name_;
  model::EgressRule source_;
  std::vector<HostPattern> hosts_;
  std::vector<model::Cidr> addresses_;
  PortSet ports_;
  HttpMatch http_;
};

}  // namespace paddock::egress
