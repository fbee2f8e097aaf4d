#include "egress/http/chunked.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "base/strings.h"

namespace paddock::egress::http {
namespace {

constexpr size_t kMaxSizeLine = 1024;  // extensions included; they are dropped
constexpr uint64_t kMaxChunk = 1ull << 40;

Error corrupt_chunk(std::string why) {
  return Error(Code::data_corrupt, "HTTP chunk: " + std::move(why));
}

}  // namespace

Result<ChunkedDecoder::Step> ChunkedDecoder::take_size_line(std::string_view bytes) {
  const size_t newline = bytes.substr(0, kMaxSizeLine).find('\n');
  if (newline == std::string_view::npos) {
    if (bytes.size() >= kMaxSizeLine) return corrupt_chunk("a size line of more than 1 KiB");
    return Step{};
  }
  std::string_view line = bytes.substr(0, newline);
  if (!line.ends_with('\r') || line.find('\r') != line.size() - 1)
    return corrupt_chunk("a bare CR or LF");
  line.remove_suffix(1);
  const std::string_view digits = line.substr(0, line.find(';'));
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), left_, 16);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty() ||
      left_ > kMaxChunk) {
    return corrupt_chunk("size '" + printable(line.substr(0, 40)) + "'");
  }
  state_ = left_ == 0 ? State::trailers : State::data;
  return Step{.data = {}, .used = newline + 1};
}

Result<ChunkedDecoder::Step> ChunkedDecoder::take_data_end(std::string_view bytes) {
  if (bytes.substr(0, 2) != std::string_view("\r\n").substr(0, bytes.size())) {
    return corrupt_chunk("longer than its size");
  }
  if (bytes.size() < 2) return Step{};
  state_ = State::size_line;
  return Step{.data = {}, .used = 2};
}

Result<ChunkedDecoder::Step> ChunkedDecoder::take_trailers(std::string_view bytes) {
  if (bytes.starts_with("\r\n")) {
    state_ = State::finished;
    return Step{.data = {}, .used = 2};
  }
  if (bytes == "\r") return Step{};
  const auto lines = PD_TRY(find_head(bytes));
  if (!lines) return Step{};
  trailers_ = PD_TRY(parse_fields(*lines));
  for (const Field& field : trailers_) {
    if (field.name == "content-length" || field.name == "transfer-encoding" ||
        field.name == "host") {
      return corrupt_chunk(field.name + " in a trailer");
    }
  }
  state_ = State::finished;
  return Step{.data = {}, .used = lines->size()};
}

Result<ChunkedDecoder::Step> ChunkedDecoder::next(std::string_view bytes) {
  if (bytes.empty()) return Step{};
  switch (state_) {
    case State::size_line:
      return take_size_line(bytes);
    case State::data: {
      const size_t count = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size()));
      left_ -= count;
      if (left_ == 0) state_ = State::data_end;
      return Step{.data = bytes.substr(0, count), .used = count};
    }
    case State::data_end:
      return take_data_end(bytes);
    case State::trailers:
      return take_trailers(bytes);
    case State::finished:
      break;
  }
  return Step{};
}

std::string chunk_of(std::string_view data) {
  if (data.empty()) return {};
  return fmt::format("{:x}\r\n{}\r\n", data.size(), data);
}

std::string last_chunk(const Fields& trailers) {
  std::string out = "0\r\n";
  for (const Field& field : trailers) {
    out += (field.spelled.empty() ? field.name : field.spelled) + ": " + field.value + "\r\n";
  }
  return out + "\r\n";
}

}  // namespace paddock::egress::http
