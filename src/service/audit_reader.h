// Reading an audit log from its first record to its last, and what is wrong with it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "service/audit_line.h"

namespace paddock::service {

struct AuditProblem {
  std::string file;
  uint64_t line = 0;  // 1…; 0: of the file
  std::string what;
};

struct AuditReport {
  uint64_t records = 0;
  uint64_t first_seq = 0;  // more than 1 when the oldest files were taken away
  AuditPoint last;
  uint64_t torn_bytes = 0;             // behind the last line: cut off by the next server
  std::vector<AuditProblem> problems;  // at most kMaxAuditProblems
  uint64_t more_problems = 0;
};
inline constexpr size_t kMaxAuditProblems = 50;

// Checks every hash, every link, every number, and that nothing synced is missing at the end.
// `noted` is a point that somebody wrote down earlier: a chain made anew does not have it. A log
// that is being appended to may be read. not_found: there is none.
Result<AuditReport> verify_audit(const std::string& directory,
                                 const std::optional<AuditPoint>& noted);

// Every record that can be read, in order, with its text; what cannot be is passed over.
Status read_audit(const std::string& directory,
                  const std::function<void(const AuditLine&, std::string_view text)>& take);

}  // namespace paddock::service
