#include "service/audit_log.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "service/audit_files.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/path_lock.h"

namespace paddock::service {
namespace {

// How often a lock that another process holds for one line is tried, a millisecond apart.
constexpr int kTries = 200;
constexpr size_t kTailBytes = kMaxAuditLine + 1;

// Never waits for long: whoever holds the lock may have been stopped.
Result<sys::FileFd> lock(const std::string& directory) {
  for (int i = 0;; ++i) {
    auto taken = sys::lock_path(directory + "/lock", sys::LockMode::exclusive, sys::LockWait::no);
    if (taken.ok() || taken.error().code() != Code::failed_precondition || i == kTries) {
      return taken;
    }
    ::usleep(1000);
  }
}

Result<uint64_t> size_of(const sys::FileFd& file) {
  struct stat st {};
  if (::fstat(file.get(), &st) != 0) return Error::from_errno(errno, "looking at the audit log");
  return static_cast<uint64_t>(st.st_size);
}

Result<std::string> read_range(const sys::FileFd& file, uint64_t from, uint64_t to) {
  std::string out(to - from, '\0');
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t count =
        ::pread(file.get(), out.data() + done, out.size() - done, static_cast<off_t>(from + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno(errno, "reading the audit log");
    if (count == 0) return Error(Code::data_corrupt, "the audit log became shorter");
    done += static_cast<size_t>(count);
  }
  return out;
}

// The last whole line of `tail`, without its line break.
std::string_view last_line(std::string_view tail) {
  tail.remove_suffix(1);
  const size_t before = tail.rfind('\n');
  return before == std::string_view::npos ? tail : tail.substr(before + 1);
}

}  // namespace

Result<AuditLog> AuditLog::open(const std::string& directory, const AuditOptions& options) {
  PD_TRY_CTX("opening the audit log", sys::make_dir(directory, 0700));
  AuditLog log(directory, options);
  const sys::FileFd held = PD_TRY_CTX("opening the audit log", lock(directory));
  PD_TRY_CTX("opening the audit log", log.recover());
  return log;
}

// The last file, cut behind its last whole line. A new log, or an empty last file, goes on from the
// file before.
Status AuditLog::recover() {
  std::vector<uint64_t> segments = PD_TRY(audit_segments(directory_));
  if (segments.empty()) segments.push_back(1);
  if (segments.size() > 1) {
    PD_TRY(open_segment(segments[segments.size() - 2]));
    PD_TRY(read_tail());
  }
  PD_TRY(open_segment(segments.back()));
  const uint64_t size = PD_TRY(size_of(file_));
  const uint64_t from = size > kTailBytes ? size - kTailBytes : 0;
  const std::string tail = PD_TRY(read_range(file_, from, size));
  const size_t end = tail.rfind('\n');
  if (end == std::string::npos && from > 0) {
    return Error(Code::data_corrupt, "the last line of the audit log has no end")
        .set_remedy("`paddock audit verify` says where; move the file away to begin a new one");
  }
  size_ = from + (end == std::string::npos ? 0 : end + 1);
  torn_bytes_ = size - size_;
  if (torn_bytes_ > 0 && ::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0) {
    return Error::from_errno(errno, "cutting off a torn line");
  }
  PD_TRY(read_tail());
  if (size_ == 0 && segment_ > 1) PD_TRY(begin_segment());
  // What is older than this opening has had its time: what it lacks is missing, not unsynced.
  synced_ = point_;
  PD_TRY(note_missing());
  if (torn_bytes_ == 0) return {};
  return write_line("recovered", {{"torn_bytes", torn_bytes_}});
}

// `head` will be written over: what it says about lines that are not there goes on record.
Status AuditLog::note_missing() {
  auto head = read_audit_head(directory_);
  if (!head.ok() && head.error().code() != Code::data_corrupt) return std::move(head).error();
  if (!head.ok()) return write_line(kMissingEvent, {{"why", head.error().message()}});
  if (!*head || (*head)->seq <= point_.seq) return {};
  missing_ = (*head)->seq - point_.seq;
  return write_line(kMissingEvent, {{"synced_seq", (*head)->seq}, {"synced_hash", (*head)->hash}});
}

Status AuditLog::open_segment(uint64_t number) {
  file_ = PD_TRY(sys::open_file(directory_ + "/" + segment_name(number),
                                O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0600));
  segment_ = number;
  size_ = PD_TRY(size_of(file_));
  return {};
}

Status AuditLog::read_tail() {
  if (size_ == 0) return {};
  const uint64_t from = size_ > kTailBytes ? size_ - kTailBytes : 0;
  const std::string tail = PD_TRY(read_range(file_, from, size_));
  auto line = read_audit_line(last_line(tail));
  if (!line.ok()) {
    return Error(Code::data_corrupt, fmt::format("the last record of {}: {}",
                                                 segment_name(segment_), line.error().message()))
        .set_remedy("`paddock audit verify` tells more; move the folder away to begin a new log");
  }
  point_ = std::move(line->point);
  return {};
}

Status AuditLog::catch_up() {
  const uint64_t size = PD_TRY(size_of(file_));
  if (size == size_) return {};
  if (size < size_) return Error(Code::data_corrupt, "the audit log became shorter");
  size_ = size;
  return read_tail();
}

Status AuditLog::append(std::string_view event, const boost::json::object& fields) {
  const sys::FileFd held = PD_TRY_CTX("writing the audit log", lock(directory_));
  PD_TRY_CTX("writing the audit log", catch_up());
  if (size_ >= options_.segment_bytes) {
    PD_TRY_CTX("writing the audit log", sync_now());
    PD_TRY_CTX("writing the audit log", open_segment(segment_ + 1));
    PD_TRY_CTX("writing the audit log", begin_segment());
  }
  return write_line(event, fields).with_context("writing the audit log");
}

Status AuditLog::begin_segment() {
  return write_line("continued", {{kSegmentField, segment_}});
}

Status AuditLog::write_line(std::string_view event, const boost::json::object& fields) {
  AuditPoint next = point_;
  const std::string line = make_audit_line(next, sys::wall_clock_ms(), event, fields);
  const Status written = sys::write_all(file_, line);
  if (!written.ok()) {
    // A part of a line would be taken for a torn one; there is nothing else to do if this fails.
    if (::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0) size_ = 0;
    return written;
  }
  size_ += line.size();
  point_ = std::move(next);
  return {};
}

std::function<Status()> AuditLog::sync() {
  if (point_ == synced_) return {};
  // A descriptor of its own: this one may be on the next file by then.
  auto file = std::make_shared<sys::FileFd>(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 3));
  synced_ = point_;
  return [file, directory = directory_, point = point_]() -> Status {
    if (::fdatasync(file->get()) != 0) return Error::from_errno(errno, "syncing the audit log");
    return write_audit_head(directory, point);
  };
}

Status AuditLog::sync_now() {
  auto job = sync();
  return job ? job() : Status();
}

Status append_audit(const std::string& directory, std::string_view event,
                    const boost::json::object& fields) {
  AuditLog log = PD_TRY(AuditLog::open(directory, {}));
  PD_TRY(log.append(event, fields));
  return log.sync_now();
}

}  // namespace paddock::service
