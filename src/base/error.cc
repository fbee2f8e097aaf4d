#include "base/error.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace paddock {
namespace {

struct CodeRow {
  Code code;
  std::string_view name;
  int http;
};

constexpr std::array kCodes{
    CodeRow{Code::invalid_argument, "invalid_argument", 400},
    CodeRow{Code::not_found, "not_found", 404},
    CodeRow{Code::already_exists, "already_exists", 409},
    CodeRow{Code::permission_denied, "permission_denied", 403},
    CodeRow{Code::failed_precondition, "failed_precondition", 409},
    CodeRow{Code::conflict, "conflict", 409},
    CodeRow{Code::unsupported, "unsupported", 501},
    CodeRow{Code::unavailable, "unavailable", 503},
    CodeRow{Code::resource_exhausted, "resource_exhausted", 507},
    CodeRow{Code::timed_out, "timed_out", 504},
    CodeRow{Code::data_corrupt, "data_corrupt", 500},
    CodeRow{Code::internal, "internal", 500},
};

const CodeRow& row_of(Code code) {
  for (const CodeRow& row : kCodes) {
    if (row.code == code) return row;
  }
  return kCodes.back();
}

Code code_of_errno(int errno_value) {
  switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
    case ESRCH:
      return Code::not_found;
    case EEXIST:
      return Code::already_exists;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::permission_denied;
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return Code::resource_exhausted;
    case ENOSYS:
    case EOPNOTSUPP:
      return Code::unsupported;
    case EBUSY:
    case ENOTEMPTY:
      return Code::failed_precondition;
    case EAGAIN:
    case ECONNREFUSED:
    case ECONNRESET:
    case EPIPE:
      return Code::unavailable;
    case ETIMEDOUT:
      return Code::timed_out;
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
      return Code::invalid_argument;
    default:
      return Code::internal;
  }
}

}  // namespace

std::string_view to_string(Code code) {
  return row_of(code).name;
}
int http_status(Code code) {
  return row_of(code).http;
}

Error Error::from_errno(int errno_value, std::string doing) {
  std::array<char, 128> text{};
  // The GNU variant returns the message, which may or may not be the buffer.
  const char* why = strerror_r(errno_value, text.data(), text.size());
  Error error(code_of_errno(errno_value), std::move(doing) + ": " + why);
  error.errno_ = errno_value;
  return error;
}

Error& Error::add_context(std::string doing) & {
  contexts_.push_back(std::move(doing));
  return *this;
}

Error& Error::set_remedy(std::string remedy) & {
  if (remedy_.empty()) remedy_ = std::move(remedy);
  return *this;
}

std::string Error::describe() const {
  std::string out;
  for (auto it = contexts_.rbegin(); it != contexts_.rend(); ++it) out += *it + ": ";
  return out + message_;
}

namespace detail {
void wrong_side_of_result() {
  std::abort();
}
}  // namespace detail

}  // namespace paddock
