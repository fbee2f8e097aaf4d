#include "cmd/client/http_reply.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/strings.h"
#include "net/http/message.h"

namespace paddock::cmd {
namespace {

constexpr size_t kMaxHead = 64u << 10;
constexpr size_t kMaxChunkLine = 64;

Error corrupt(const char* why) {
  return Error(Code::data_corrupt, std::string("the daemon's answer: ") + why);
}

std::optional<uint64_t> parse_hex(std::string_view text) {
  uint64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

}  // namespace

Result<std::string> HttpReply::feed(std::string_view bytes) {
  buffer_.append(bytes);
  while (!has_head()) {
    const size_t end = buffer_.find("\r\n\r\n");
    if (end == std::string::npos) {
      if (buffer_.size() > kMaxHead) return corrupt("its head does not end");
      return std::string();
    }
    const std::string head = buffer_.substr(0, end);
    buffer_.erase(0, end + 4);
    PD_TRY(take_head(head));
  }
  if (chunked_) return take_chunks();
  return take_length();
}

Status HttpReply::end() {
  if (!has_head()) return corrupt("it ends within its head");
  const bool up_to_the_end = !chunked_ && !left_;
  if (!done_ && !up_to_the_end) return corrupt("it ends too early");
  done_ = true;
  return {};
}

Status HttpReply::take_head(std::string_view head) {
  const size_t line_end = std::min(head.find("\r\n"), head.size());
  const std::string_view line = head.substr(0, line_end);
  const auto status = line.size() >= 12 ? parse_u64(line.substr(9, 3)) : std::nullopt;
  if (!line.starts_with("HTTP/1.1 ") || !status || *status < 100) return corrupt("no HTTP/1.1");
  if (*status < 200) return {};  // 100 Continue: the head that counts follows
  head.remove_prefix(std::min(line_end + 2, head.size()));
  while (!head.empty()) {
    const size_t end = std::min(head.find("\r\n"), head.size());
    PD_TRY(take_field(head.substr(0, end)));
    head.remove_prefix(std::min(end + 2, head.size()));
  }
  status_ = static_cast<int>(*status);
  if (status_ == 204) left_ = 0;
  return {};
}

Status HttpReply::take_field(std::string_view line) {
  const size_t colon = std::min(line.find(':'), line.size());
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trim(line.substr(std::min(colon + 1, line.size())));
  if (net::http::equals_ignoring_case(name, "transfer-encoding")) {
    chunked_ = net::http::equals_ignoring_case(value, "chunked");
  }
  if (net::http::equals_ignoring_case(name, "content-length")) {
    left_ = parse_u64(value);
    if (!left_) return corrupt("a length that is no number");
  }
  return {};
}

std::string HttpReply::take_length() {
  std::string out = std::exchange(buffer_, "");
  if (!left_) return out;
  out.resize(std::min<uint64_t>(out.size(), *left_));
  *left_ -= out.size();
  done_ = *left_ == 0;
  return out;
}

Result<std::string> HttpReply::take_chunks() {
  std::string out;
  while (!done_) {
    if (!left_) {
      const size_t end = buffer_.find("\r\n");
      if (end == std::string::npos) {
        if (buffer_.size() > kMaxChunkLine) return corrupt("a chunk without a length");
        return out;
      }
      left_ = parse_hex(std::string_view(buffer_).substr(0, end));
      if (!left_) return corrupt("a chunk without a length");
      buffer_.erase(0, end + 2);
    }
    // The line break behind a chunk is taken with its last byte, so that 0 left means the last one.
    done_ = *left_ == 0;
    const bool whole = buffer_.size() >= *left_ + 2;
    const size_t count = whole ? *left_ : std::min<uint64_t>(buffer_.size(), *left_ - !done_);
    if (done_ || count == 0) return out;
    out.append(buffer_, 0, count);
    buffer_.erase(0, whole ? count + 2 : count);
    *left_ -= count;
    if (!whole) return out;
    left_.reset();
  }
  return out;
}

}  // namespace paddock::cmd
