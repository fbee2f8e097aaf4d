#include "service/audit_reader.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "service/audit_files.h"
#include "sys/files.h"

namespace paddock::service {
namespace {

// Lines of one file, one after another, in flat memory.
class Lines {
 public:
  explicit Lines(sys::FileFd file) : file_(std::move(file)) {}

  // nullopt: no whole line is left. Valid until the next call.
  Result<std::optional<std::string_view>> next() {
    buffer_.erase(0, std::exchange(taken_, 0));
    size_t end;
    while ((end = buffer_.find('\n')) == std::string::npos) {
      if (buffer_.size() > 16 * kMaxAuditLine) return overlong();
      if (!PD_TRY(fill())) return std::optional<std::string_view>();
    }
    taken_ = end + 1;
    return std::optional(std::string_view(buffer_).substr(0, end));
  }
  // Behind the last whole line.
  uint64_t rest() const { return buffer_.size() - taken_; }

 private:
  Error overlong() const { return Error(Code::data_corrupt, "a line without an end"); }

  Result<bool> fill() {
    char piece[16384];
    while (true) {
      const ssize_t count = ::read(file_.get(), piece, sizeof piece);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return Error::from_errno(errno, "reading the audit log");
      buffer_.append(piece, static_cast<size_t>(count));
      return count > 0;
    }
  }

  sys::FileFd file_;
  std::string buffer_;
  size_t taken_ = 0;
};

class Check {
 public:
  explicit Check(const std::optional<AuditPoint>& noted) : noted_(noted) {}

  Status file(const std::string& directory, uint64_t number) {
    number_ = number;
    file_ = segment_name(number);
    line_ = 0;
    Lines lines(PD_TRY(sys::open_file(directory + "/" + file_, O_RDONLY | O_NOFOLLOW)));
    while (true) {
      auto line = lines.next();
      if (!line.ok() && line.error().code() != Code::data_corrupt) return std::move(line).error();
      ++line_;
      if (!line.ok()) {
        problem(line.error().message());
        return {};
      }
      if (!*line) break;
      take(**line);
    }
    if (report_.torn_bytes > 0) problem_of_file(last_file_, "its last line is torn");
    report_.torn_bytes = lines.rest();
    last_file_ = file_;
    return {};
  }

  AuditReport finish(const Result<std::optional<AuditPoint>>& head) {
    if (!head.ok()) {
      problem_of_file("head", head.error().message());
    } else if (*head && (*head)->seq > report_.last.seq) {
      problem_of_file(file_, fmt::format("records {} to {} were written and are missing at its end",
                                         report_.last.seq + 1, (*head)->seq));
    } else if (*head && head_hash_ && *head_hash_ != (*head)->hash) {
      problem_of_file(
          "head", fmt::format("record {} is another than the one that was synced", (*head)->seq));
    }
    if (noted_ && !has_noted_) {
      problem_of_file(file_,
                      fmt::format("record {} with the noted hash is not in it", noted_->seq));
    }
    return std::move(report_);
  }
  void expect(const AuditPoint& head) { head_ = head; }

 private:
  void take(std::string_view text) {
    auto line = read_audit_line(text);
    if (!line.ok()) {
      problem(line.error().message());
      // Nothing is known of its hash, but its number is.
      if (next_seq_) ++*next_seq_;
      prev_.reset();
      return;
    }
    ++report_.records;
    check_link(*line);
    check_known(*line);
    report_.last = line->point;
    next_seq_ = line->point.seq + 1;
    prev_ = line->point.hash;
  }

  void check_link(const AuditLine& line) {
    if (report_.first_seq == 0) report_.first_seq = line.point.seq;
    if (line_ == 1 && !begins(line)) problem("lines before it were removed");
    if (next_seq_ && line.point.seq != *next_seq_) {
      problem(fmt::format("record {} stands where {} must be: lines were removed or reordered",
                          line.point.seq, *next_seq_));
    } else if (prev_ && line.prev != *prev_) {
      problem(fmt::format("record {} does not follow the one before it", line.point.seq));
    }
  }

  // The first file begins with the first record, later ones say which they are: the oldest may have
  // been taken away, but no lines of them alone.
  bool begins(const AuditLine& line) const {
    if (number_ == 1) return line.point.seq == 1 && line.prev == AuditPoint{}.hash;
    const auto* number = line.fields.if_contains(kSegmentField);
    return number != nullptr && number->is_int64() &&
           static_cast<uint64_t>(number->get_int64()) == number_;
  }

  void check_known(const AuditLine& line) {
    if (head_ && line.point.seq == head_->seq) head_hash_ = line.point.hash;
    if (noted_ && line.point == *noted_) has_noted_ = true;
    const auto* event = line.fields.if_contains("event");
    if (event != nullptr && event->is_string() && event->get_string() == kMissingEvent) {
      problem("records before this one were missing when the server started");
    }
  }

  void problem(std::string what) { add({file_, line_, std::move(what)}); }
  void problem_of_file(std::string file, std::string what) {
    add({std::move(file), 0, std::move(what)});
  }
  void add(AuditProblem problem) {
    if (report_.problems.size() < kMaxAuditProblems) {
      report_.problems.push_back(std::move(problem));
    } else {
      ++report_.more_problems;
    }
  }

  std::optional<AuditPoint> noted_;
  std::optional<AuditPoint> head_;
  std::optional<std::string> head_hash_;
  bool has_noted_ = false;
  std::optional<uint64_t> next_seq_;  // nullopt: of the first record
  std::optional<std::string> prev_;   // nullopt: the line before could not be read
  AuditReport report_;
  uint64_t number_ = 0;
  std::string file_;
  std::string last_file_;
  uint64_t line_ = 0;
};

Result<std::vector<uint64_t>> existing(const std::string& directory) {
  auto segments = audit_segments(directory);
  const bool none = segments.ok() ? segments->empty() : segments.error().code() == Code::not_found;
  if (none) {
    return Error(Code::not_found, "there is no audit log in this PADDOCK_HOME")
        .set_remedy("`paddock serve` writes one");
  }
  return segments;
}

}  // namespace

Result<AuditReport> verify_audit(const std::string& directory,
                                 const std::optional<AuditPoint>& noted) {
  // Before the files: what is synced meanwhile is no reason to complain.
  const auto head = read_audit_head(directory);
  const std::vector<uint64_t> segments = PD_TRY(existing(directory));
  Check check(noted);
  if (head.ok() && *head) check.expect(**head);
  for (const uint64_t number : segments) PD_TRY(check.file(directory, number));
  return check.finish(head);
}

Status read_audit(const std::string& directory,
                  const std::function<void(const AuditLine&, std::string_view text)>& take) {
  for (const uint64_t number : PD_TRY(existing(directory))) {
    Lines lines(
        PD_TRY(sys::open_file(directory + "/" + segment_name(number), O_RDONLY | O_NOFOLLOW)));
    while (const auto text = PD_TRY(lines.next())) {
      const auto line = read_audit_line(*text);
      if (line.ok()) take(*line, *text);
    }
  }
  return {};
}

}  // namespace paddock::service
