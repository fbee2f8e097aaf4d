// What is in force, and why: the rows of `paddock policy explain`. Pure.
#pragma once

#include <boost/json/fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/decision.h"
#include "policy/compile.h"

namespace paddock::policy {

struct Explanation {
  std::string key;
  std::string value;   // as TOML
  std::string origin;  // who gave it; several where tiers add up, joined by " + "
  std::string bound;   // what user and flags cannot get past, and who says so; empty: no bound
  std::string doc;
  // How this host holds it. Unset for what Paddock itself decides before anything runs.
  std::optional<model::ControlState> state;
  std::string detail;
};

// One row for each setting, in the order of the table. `controls` are those of the decision.
std::vector<Explanation> explain(const Compiled& compiled,
                                 const std::vector<model::Control>& controls);

// One row for each [[egress.rule]] and [[credential]], in the order in which they are asked.
std::vector<Explanation> explain_egress(const Compiled& compiled);

// The same rows as public JSON: a list of objects with key, value (text, integer, list or object),
// origin, bound and state (null: none), detail and doc.
boost::json::array explain_json(const Compiled& compiled,
                                const std::vector<model::Control>& controls);

}  // namespace paddock::policy
