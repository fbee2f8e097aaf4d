#include "net/http/connection.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/strings.h"
#include "net/http/input_buffer.h"
#include "net/http/request_parser.h"
#include "net/http/upgraded_stream.h"

namespace paddock::net::http {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr size_t kWriteAtATime = 64u << 10;
// What is left of a body that the handler did not want is read up to here, else the client is cut.
constexpr size_t kMaxUnwanted = 1u << 20;
constexpr milliseconds kParting{1000};

milliseconds left_until(Clock::time_point end) {
  return std::chrono::duration_cast<milliseconds>(end - Clock::now());
}

bool is_safe_field(const std::string& text) {
  return std::ranges::none_of(text, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

// Nor does what a HEAD is answered with.
bool has_no_body(int status) {
  return status == 204 || status == 304 || status < 200;
}

class ServedExchange : public Exchange {
 public:
  ServedExchange(Stream& stream, InputBuffer& input, RequestParser& parser,
                 const Patience& patience)
      : stream_(stream), input_(input), parser_(parser), patience_(patience) {
    keep_alive_ = parser.keep_alive();
  }
  ~ServedExchange() override { input_.on_end(nullptr); }

  const RequestHead& request() const override { return parser_.head(); }

  Result<size_t> read_body(Task& task, std::span<char> into) override {
    PD_TRY(send_continue(task));
    while (piece_.empty() && !parser_.is_done()) PD_TRY(take_piece(task));
    const size_t count = std::min(into.size(), piece_.size());
    std::memcpy(into.data(), piece_.data(), count);
    piece_.erase(0, count);
    return count;
  }

  Status respond(Task& task, const Response& response) override {
    std::string text = PD_TRY(head_of(response, response.body.size()));
    if (!is_head_request() && !has_no_body(response.status)) text += response.body;
    begun_ = finished_ = true;
    return send(task, text);
  }

  Status begin(Task& task, const Response& head, std::optional<uint64_t> length) override {
    std::string text = PD_TRY(head_of(head, length));
    begun_ = true;
    chunked_ = !length && request().minor_version >= 1 && !has_no_body(head.status);
    if (!length && !chunked_ && !has_no_body(head.status))
      keep_alive_ = false;  // HTTP/1.0: the end is the end of all
    bytes_left_ = length;
    return send(task, text);
  }

  Status write(Task& task, std::string_view piece) override {
    if (piece.empty() || is_head_request()) return {};
    if (bytes_left_) {
      if (piece.size() > *bytes_left_) return Error(Code::internal, "more body than was announced");
      *bytes_left_ -= piece.size();
    }
    if (!chunked_) return send(task, piece);
    std::string chunk;
    chunk.reserve(piece.size() + 16);
    fmt::format_to(std::back_inserter(chunk), "{:x}\r\n", piece.size());
    chunk.append(piece).append("\r\n");
    return send(task, chunk);
  }

  Status finish(Task& task) override {
    finished_ = !bytes_left_ || *bytes_left_ == 0 || is_head_request();
    if (!chunked_ || is_head_request()) return {};
    return send(task, "0\r\n\r\n");
  }

  bool has_begun() const override { return begun_; }
  void on_client_gone(std::function<void()> notify) override { input_.on_end(std::move(notify)); }

  void stop_reading() override {
    stopped_ = true;
    input_.wake();
  }

  Result<Stream*> switch_protocols(Task& task, const Response& head) override {
    const std::string text = PD_TRY(head_of(head, std::nullopt));
    begun_ = true;
    keep_alive_ = false;
    PD_TRY(send(task, text));
    upgraded_.emplace(stream_, input_);
    return &*upgraded_;
  }

  // Leaves the connection at the beginning of the next request, or says that there is none.
  bool may_go_on(Task& task) {
    if (!finished_ || broken_ || !keep_alive_) return false;
    for (size_t unwanted = 0; !parser_.is_done(); unwanted += piece_.size()) {
      piece_.clear();
      if (awaits_continue() || unwanted > kMaxUnwanted || !take_piece(task).ok()) return false;
    }
    return true;
  }

 private:
  bool is_head_request() const { return request().method == "HEAD"; }
  bool awaits_continue() const {
    return !continued_ && equals_ignoring_case(request().headers.get("expect"), "100-continue");
  }

  Status send_continue(Task& task) {
    if (!awaits_continue() || parser_.is_done()) return {};
    continued_ = true;
    return begun_ ? Status() : send(task, "HTTP/1.1 100 Continue\r\n\r\n");
  }

  Status take_piece(Task& task) {
    const size_t known = input_.bytes().size();
    auto taken = parser_.take_body(input_.bytes());
    if (!taken.ok()) {
      broken_ = true;
      return std::move(taken).error();
    }
    input_.take(taken->taken);
    piece_ = std::move(taken->data);
    if (taken->taken > 0 || parser_.is_done()) return {};
    if (!input_.has_ended() && !stopped_) input_.wait_for_more(task, known, patience_.body);
    if (stopped_) {
      broken_ = true;
      return Error(Code::unavailable, "the body is wanted no more");
    }
    if (input_.bytes().size() > known) return {};
    broken_ = true;
    if (input_.has_ended()) return Error(Code::unavailable, "the client left within its request");
    return Error(Code::timed_out, "the client sends nothing any more");
  }

  Result<std::string> head_of(const Response& response, std::optional<uint64_t> length) {
    std::string text =
        fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_of(response.status));
    for (const auto& [name, value] : response.headers.fields()) {
      if (!is_safe_field(name) || !is_safe_field(value)) {
        return Error(Code::internal, "a response header with a line break: " + printable(name));
      }
      text.append(name).append(": ").append(value).append("\r\n");
    }
    if (!has_no_body(response.status)) {
      if (length) {
        text += fmt::format("Content-Length: {}\r\n", *length);
      } else if (request().minor_version >= 1) {
        text += "Transfer-Encoding: chunked\r\n";
      }
    }
    // A client that sees this does not send its next request into a connection that we close.
    if (!keep_alive_ || awaits_continue()) text += "Connection: close\r\n";
    if (awaits_continue()) keep_alive_ = false;
    text += "\r\n";
    return text;
  }

  Status send(Task& task, std::string_view bytes) {
    while (!bytes.empty()) {
      const std::string_view piece = bytes.substr(0, kWriteAtATime);
      Deadline deadline(loop_of(task), patience_.write, [this] { stream_.abort(); });
      Status sent = stream_.write(task, piece);
      if (!sent.ok()) {
        broken_ = true;
        if (deadline.expired()) return Error(Code::timed_out, "the client does not read");
        return sent;
      }
      bytes.remove_prefix(piece.size());
    }
    return {};
  }

  Stream& stream_;
  InputBuffer& input_;
  RequestParser& parser_;
  const Patience& patience_;
  std::string piece_;  // of the body, not taken by the handler yet
  std::optional<uint64_t> bytes_left_;
  bool keep_alive_;
  bool chunked_ = false;
  bool begun_ = false;
  bool finished_ = false;
  bool broken_ = false;
  bool continued_ = false;
  bool stopped_ = false;  // reading the body
  std::optional<UpgradedStream> upgraded_;
};

// nullopt: the client left, between requests or within the head.
Result<std::optional<size_t>> take_head(Task& task, InputBuffer& input, RequestParser& parser,
                                        const Patience& patience) {
  if (input.bytes().empty()) input.wait_for_more(task, 0, patience.idle);
  const auto end = Clock::now() + patience.head;
  while (true) {
    const size_t known = input.bytes().size();
    if (known == 0 && input.has_ended()) return std::optional<size_t>();
    if (known > 0) {
      input.take(PD_TRY(parser.take_head(input.bytes())));
      if (parser.has_head()) return std::optional<size_t>(known);
      if (input.has_ended()) return std::optional<size_t>();
    }
    const auto left = left_until(end);
    if (known == 0 || left.count() <= 0) return Error(Code::timed_out, "the request does not come");
    input.wait_for_more(task, input.bytes().size(), left);
  }
}

void refuse(Task& task, Stream& stream, const Error& error) {
  const int status = error.code() == Code::timed_out            ? 408
                     : error.code() == Code::resource_exhausted ? 431
                                                                : 400;
  const std::string body = error.describe() + "\n";
  (void)stream
      .write(task, fmt::format("HTTP/1.1 {} {}\r\nContent-Type: text/plain\r\nContent-Length: "
                               "{}\r\nConnection: close\r\n\r\n{}",
                               status, reason_of(status), body.size(), body))
      .ok();
}

// Whether another request may follow.
bool serve_one(Task& task, Stream& stream, InputBuffer& input, const Handler& handler,
               const Patience& patience) {
  RequestParser parser;
  auto head = take_head(task, input, parser, patience);
  if (!head.ok()) {
    // Who has not begun a request is not told that it takes too long.
    const bool idle = head.error().code() == Code::timed_out && input.bytes().empty();
    if (!idle) refuse(task, stream, head.error());
    return false;
  }
  if (!*head) return false;
  ServedExchange exchange(stream, input, parser, patience);
  handler(task, exchange);
  if (!exchange.has_begun()) {
    (void)exchange.respond(task, Response{500, {{"Content-Type", "text/plain"}}, "no answer\n"})
        .ok();
    return false;
  }
  return exchange.may_go_on(task);
}

}  // namespace

Result<std::string> Exchange::read_whole_body(Task& task, size_t limit) {
  std::string body;
  while (true) {
    char piece[8192];
    const size_t count = PD_TRY(read_body(task, piece));
    if (count == 0) return body;
    if (body.size() + count > limit) {
      return Error(Code::resource_exhausted,
                   "the request's body is longer than " + format_bytes(limit));
    }
    body.append(piece, count);
  }
}

void serve_connection(Task& task, std::shared_ptr<Stream> stream, const Handler& handler,
                      const Patience& patience) {
  auto input = std::make_shared<InputBuffer>(loop_of(task), stream);
  input->start();
  while (!loop_of(task).is_ending() && serve_one(task, *stream, *input, handler, patience)) {
  }
  // What the client still has to read is not thrown away by a reset: end first, abort a little
  // later, or when it has ended its side as well.
  // A client that is sending may go on for a while before it looks.
  if (stream->end_writing(task).ok()) {
    const Clock::time_point end = Clock::now() + kParting;
    while (!loop_of(task).is_ending() && !input->has_ended() && left_until(end).count() > 0) {
      input->take(input->bytes().size());
      input->wait_for_more(task, 0, left_until(end));
    }
  }
  stream->abort();
}

}  // namespace paddock::net::http
