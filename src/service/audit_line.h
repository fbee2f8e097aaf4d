// One record of the audit log as a line of text. Pure.
//
//   {"seq":7,"time":"2026-…Z","event":"request",…,"prev":"<64 hex>","hash":"<64 hex>"}
//
// `prev` is the hash of the record before, 64 zeros for the first. `hash` is SHA-256 of every byte
// of the line before `,"hash":`, so that anybody can check it with a shell.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace paddock::service {

// Where a chain stands.
struct AuditPoint {
  uint64_t seq = 0;  // 0: nothing is written yet
  std::string hash = std::string(64, '0');
  bool operator==(const AuditPoint&) const = default;
};

// No line is longer; what would be is cut down to its event.
inline constexpr size_t kMaxAuditLine = 16u << 10;
// Texts in records are cut to this many bytes.
inline constexpr size_t kMaxAuditText = 256;

// The first record of every file but the first has its number in this field.
inline constexpr std::string_view kSegmentField = "file_number";
// The record of lines that were synced and are gone.
inline constexpr std::string_view kMissingEvent = "records_missing";

// Printable, bounded.
std::string audit_text(std::string_view text);

// The next line of the chain, with its line break; `point` moves on.
std::string make_audit_line(AuditPoint& point, int64_t wall_ms, std::string_view event,
                            const boost::json::object& fields);

struct AuditLine {
  AuditPoint point;
  std::string prev;
  boost::json::object fields;  // all of the line
};
// Without its line break. data_corrupt: it is no record, or not what was written.
Result<AuditLine> read_audit_line(std::string_view line);

// RFC 3339 in UTC with milliseconds.
std::string rfc3339(int64_t wall_ms);

}  // namespace paddock::service
