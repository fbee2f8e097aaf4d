#include "net/http/upgraded_stream.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace paddock::net::http {
namespace {

constexpr std::chrono::minutes kLookAgain{1};

}  // namespace

Status UpgradedStream::wait_readable(Task& task) {
  while (input_.bytes().empty() && !input_.has_ended()) {
    input_.wait_for_more(task, 0, kLookAgain);
    if (loop_of(task).is_ending()) return Error(Code::unavailable, "the server is ending");
  }
  return {};
}

Result<size_t> UpgradedStream::read(Task& task, std::span<char> into) {
  PD_TRY(wait_readable(task));
  const size_t count = std::min(into.size(), input_.bytes().size());
  std::memcpy(into.data(), input_.bytes().data(), count);
  input_.take(count);
  return count;
}

}  // namespace paddock::net::http
