// The audit log: what was asked of the server and what it decided, one line per record, in
// PADDOCK_HOME/audit/audit-NNNNNNNN.jsonl. `head` beside them says how far the log was when it was
// last synced, so that lines which are missing at its end are noticed.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "service/audit_line.h"
#include "sys/fd.h"

namespace paddock::service {

struct AuditOptions {
  uint64_t segment_bytes = 64u << 20;  // a longer file is followed by the next one
};

// Appends. A record is handed to the kernel before append() returns: it survives kill -9 of this
// process; what is not synced yet may not survive the machine. Several processes may append, each
// append is one lock long. Used by one thread; the job that sync() returns may run on another.
class AuditLog {
 public:
  // Makes `directory` (0700) when it is not there. data_corrupt: the last record is not what was
  // written, so that nothing can be chained to it.
  static Result<AuditLog> open(const std::string& directory, const AuditOptions& options);

  // Bytes of a last line that was not written to its end (a machine that died), which open() cut
  // off and put on record.
  uint64_t torn_bytes() const { return torn_bytes_; }
  // Records that were synced and are not there.
  uint64_t missing() const { return missing_; }
  const AuditPoint& head() const { return point_; }

  // Fields beside seq, time and event: bounded texts and numbers, no secrets, no bodies. An error
  // leaves the log as it was.
  Status append(std::string_view event, const boost::json::object& fields);

  // To the disk, then `head`: for a thread that may wait. Nothing to do is an empty function.
  std::function<Status()> sync();
  // The same, here and now.
  Status sync_now();

 private:
  AuditLog(std::string directory, const AuditOptions& options)
      : directory_(std::move(directory)), options_(options) {}

  Status open_segment(uint64_t number);
  Status recover();
  Status begin_segment();
  Status note_missing();
  // What another process appended since.
  Status catch_up();
  Status read_tail();
  Status write_line(std::string_view event, const boost::json::object& fields);

  std::string directory_;
  AuditOptions options_;
  sys::FileFd file_;
  uint64_t segment_ = 0;
  uint64_t size_ = 0;  // of the file, up to the last line that is ours to trust
  uint64_t torn_bytes_ = 0;
  uint64_t missing_ = 0;
  AuditPoint point_;
  AuditPoint synced_;
};

// One record by a process that holds no log open: a verb of the command line.
Status append_audit(const std::string& directory, std::string_view event,
                    const boost::json::object& fields);

}  // namespace paddock::service
