// Outcomes, denials and decisions in words.
#pragma once

#include <string>
#include <string_view>

#include "model/change.h"
#include "model/decision.h"
#include "model/network_record.h"
#include "model/outcome.h"

namespace paddock::cmd {

// "exit 0", "killed by signal 9 (SIGKILL)", "timed out: timeout after 5 s".
std::string describe_ending(const model::Outcome& outcome);
// One line per denial, at most `limit`, each behind `indent`.
std::string describe_denials(const model::Outcome& outcome, std::string_view indent,
                             size_t limit = 50);
// A table: verdict, what was asked, by which rule, bytes, which credentials, by whom.
std::string describe_network(const model::NetworkRecord& record, std::string_view indent);
std::string describe_decision(const model::Decision& decision);
// "2 added, 1 modified, 1 held back".
std::string describe_counts(const model::ChangeCounts& counts);

}  // namespace paddock::cmd
