// Error: one failure, with a code that maps to exit status and HTTP status, and the words a user
// needs: what we were doing, to what, why it failed, what to do.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {

// A closed set. base/error.cc holds the one table that maps it to HTTP and exit status.
enum class Code {
  invalid_argument,     // the caller's words are wrong
  not_found,            // the named thing does not exist
  already_exists,       // the name is taken
  permission_denied,    // the caller or policy may not
  failed_precondition,  // the object's state does not allow it
  conflict,             // both sides changed
  unsupported,          // not built, or this host cannot give it
  unavailable,          // try again later, or the peer is gone
  resource_exhausted,   // disk, memory, ids, quota
  timed_out,            // a deadline passed
  data_corrupt,         // stored or received bytes are not what they must be
  internal,             // a bug of ours
};

std::string_view to_string(Code code);
int http_status(Code code);

// A value. Copyable, thread-compatible.
class Error {
 public:
  Error(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  // For a failed system call: the code follows from errno_value, the message is
  // "<doing>: <strerror>".
  static Error from_errno(int errno_value, std::string doing);

  Code code() const { return code_; }
  int errno_value() const { return errno_; }
  const std::string& message() const { return message_; }
  const std::string& remedy() const { return remedy_; }

  // Contexts are prepended: the outermost action reads first.
  Error& add_context(std::string doing) &;
  Error&& add_context(std::string doing) && { return std::move(add_context(std::move(doing))); }
  // What the user can do about it; the first one set stays.
  Error& set_remedy(std::string remedy) &;
  Error&& set_remedy(std::string remedy) && { return std::move(set_remedy(std::move(remedy))); }

  // "opening the view: reading /x: No such file or directory" (no remedy).
  std::string describe() const;

 private:
  Code code_;
  int errno_ = 0;
  std::string message_;
  std::string remedy_;
  std::vector<std::string> contexts_;  // innermost first
};

namespace detail {
// A Result was read on the side it does not hold: a bug of ours, never input.
[[noreturn]] void wrong_side_of_result();
}  // namespace detail

}  // namespace paddock
