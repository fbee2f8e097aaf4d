#include "egress/credentials/aws_chunks.h"

#include <fmt/core.h>

#include <charconv>

#include "base/strings.h"
#include "egress/credentials/hmac.h"
#include "sys/digest.h"

namespace paddock::egress {
namespace {

constexpr size_t kMaxLine = 256;
constexpr size_t kMaxTrailers = 16 * 1024;
constexpr std::string_view kExtension = ";chunk-signature=";
constexpr std::string_view kTrailerSignature = "x-amz-trailer-signature:";

Error corrupt_chunk(std::string_view why) {
  return Error(Code::data_corrupt, fmt::format("signed chunk of an upload: {}", why));
}

}  // namespace

std::string AwsChunkSigner::sign(std::string_view kind, std::string_view covered) {
  const std::string to_sign = fmt::format("AWS4-HMAC-SHA256-{}\n{}\n{}\n{}\n{}", kind, seed_.time,
                                          seed_.scope, previous_, covered);
  previous_ = to_hex(hmac_sha256(seed_.signing_key, to_sign));
  return previous_;
}

// "10000;chunk-signature=0055…", CR LF.
Result<bool> AwsChunkSigner::take_header() {
  const size_t end = pending_.find("\r\n");
  if (end == std::string::npos) {
    if (pending_.size() > kMaxLine) return corrupt_chunk("a size line without end");
    return false;
  }
  const std::string_view line = std::string_view(pending_).substr(0, end);
  const size_t extension = line.find(kExtension);
  const std::string_view digits = line.substr(0, extension);
  const auto [last, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), chunk_, 16);
  if (extension == std::string_view::npos || error != std::errc() || digits.empty() ||
      last != digits.data() + digits.size()) {
    return corrupt_chunk("no size and signature");
  }
  if (chunk_ > kMaxChunk) {
    return Error(Code::resource_exhausted, "signed chunk of an upload: larger than 16 MiB")
        .set_remedy("let the program upload in smaller parts");
  }
  pending_.erase(0, end + 2);
  state_ = State::data;
  return true;
}

Result<bool> AwsChunkSigner::take_data(std::string& out) {
  const size_t whole = chunk_ == 0 ? 0 : chunk_ + 2;
  if (pending_.size() < whole) return false;
  const std::string_view data = std::string_view(pending_).substr(0, chunk_);
  if (chunk_ > 0 && std::string_view(pending_).substr(chunk_, 2) != "\r\n")
    return corrupt_chunk("no end");
  const std::string covered = sys::sha256_hex("") + "\n" + sys::sha256_hex(data);
  out += fmt::format("{:x}{}{}\r\n", chunk_, kExtension, sign("PAYLOAD", covered));
  if (chunk_ > 0) out += fmt::format("{}\r\n", data);
  pending_.erase(0, whole);
  state_ = chunk_ == 0 ? State::trailers : State::header;
  return true;
}

// Behind the empty chunk: nothing, or trailers with a signature of their own.
Result<bool> AwsChunkSigner::take_trailers(std::string& out) {
  if (!pending_.starts_with("\r\n") && pending_.find("\r\n\r\n") == std::string::npos) {
    if (pending_.size() > kMaxTrailers) return corrupt_chunk("trailers without end");
    return false;
  }
  std::string covered;
  std::string lines;
  std::string_view rest = pending_;
  while (!rest.starts_with("\r\n")) {
    const std::string_view line = rest.substr(0, rest.find("\r\n"));
    rest.remove_prefix(line.size() + 2);
    if (line.starts_with(kTrailerSignature)) continue;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return corrupt_chunk("malformed trailer");
    covered += fmt::format("{}:{}\n", line.substr(0, colon), trim(line.substr(colon + 1)));
    lines += fmt::format("{}\r\n", line);
  }
  out += lines;
  if (!lines.empty()) {
    out += fmt::format("{}{}\r\n", kTrailerSignature, sign("TRAILER", sys::sha256_hex(covered)));
  }
  out += "\r\n";
  pending_ = rest.substr(2);
  state_ = State::finished;
  return true;
}

Status AwsChunkSigner::feed(std::string_view bytes, std::string& out) {
  pending_ += bytes;
  while (true) {
    Result<bool> moved = false;
    if (state_ == State::header) moved = take_header();
    if (state_ == State::data && moved.ok()) moved = take_data(out);
    if (state_ == State::trailers && moved.ok()) moved = take_trailers(out);
    if (!moved.ok()) return std::move(moved).error();
    if (state_ == State::finished)
      return pending_.empty() ? Status() : corrupt_chunk("bytes after its end");
    if (!*moved) return {};
  }
}

}  // namespace paddock::egress
