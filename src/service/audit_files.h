// The files of an audit log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "service/audit_line.h"

namespace paddock::service {

std::string segment_name(uint64_t number);  // "audit-00000001.jsonl"
// Numbers of the files that are there, ascending.
Result<std::vector<uint64_t>> audit_segments(const std::string& directory);

// nullopt: never synced. data_corrupt: it is not what was written.
Result<std::optional<AuditPoint>> read_audit_head(const std::string& directory);
Status write_audit_head(const std::string& directory, const AuditPoint& point);

}  // namespace paddock::service
