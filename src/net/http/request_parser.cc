#include "net/http/request_parser.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <limits>
#include <utility>

#include "base/strings.h"

namespace paddock::net::http {
namespace {

namespace beast = boost::beast::http;
using boost::beast::string_view;
using boost::system::error_code;

std::string text_of(string_view text) {
  return std::string(text.data(), text.size());
}

// Origin form without what a log line or a path could be misread by.
bool is_target(std::string_view target) {
  if (target.empty() || target[0] != '/') return false;
  for (char c : target) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f || c == '#') return false;
  }
  return true;
}

}  // namespace

struct RequestParser::Impl : beast::basic_parser<true> {
  RequestHead head;
  std::string body;
  bool too_many_fields = false;

  Impl() {
    header_limit(kMaxHead);
    body_limit(std::numeric_limits<uint64_t>::max());  // whoever reads the body bounds it
  }

  void on_request_impl(beast::verb, string_view method, string_view target, int version,
                       error_code&) override {
    head.method = text_of(method);
    head.target = text_of(target);
    head.minor_version = version % 10;
  }
  void on_response_impl(int, string_view, int, error_code&) override {}
  void on_field_impl(beast::field, string_view name, string_view value,
                     error_code& error) override {
    // Trailers are of no use to anybody here.
    if (is_header_done()) return;
    too_many_fields = head.headers.fields().size() >= kMaxFields;
    if (too_many_fields) error = beast::error::header_limit;
    head.headers.add(text_of(name), text_of(value));
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<uint64_t>&, error_code&) override {}
  size_t on_body_impl(string_view bytes, error_code&) override {
    body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(uint64_t, string_view, error_code&) override {}
  size_t on_chunk_body_impl(uint64_t, string_view bytes, error_code&) override {
    body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_finish_impl(error_code&) override {}

  Result<size_t> take(std::string_view bytes) {
    size_t taken = 0;
    // Each call of Beast's takes one step (head, chunk header, part of a body).
    while (!is_done() && taken < bytes.size()) {
      error_code error;
      const size_t count =
          put(boost::asio::const_buffer(bytes.data() + taken, bytes.size() - taken), error);
      taken += count;
      if (error == beast::error::need_more) break;
      if (error == beast::error::header_limit || error == beast::error::buffer_overflow) {
        return Error(Code::resource_exhausted, "the request's head is too long");
      }
      if (error) return Error(Code::data_corrupt, "no HTTP request: " + error.message());
      if (!eager() && is_header_done()) break;
      if (count == 0) break;
    }
    return taken;
  }
};

RequestParser::RequestParser() : impl_(new Impl) {}
RequestParser::~RequestParser() = default;

Result<size_t> RequestParser::take_head(std::string_view bytes) {
  const size_t taken = PD_TRY(impl_->take(bytes));
  if (!impl_->is_header_done()) return taken;
  if (!is_target(impl_->head.target)) {
    return Error(Code::data_corrupt,
                 "no target in origin form: " + printable(impl_->head.target.substr(0, 200)));
  }
  // Beast reads "chunked" as the last of several codings; the others would be left to us.
  const std::string_view coding = impl_->head.headers.get("transfer-encoding");
  if (impl_->head.headers.count("transfer-encoding") > 1 ||
      (!coding.empty() && !equals_ignoring_case(coding, "chunked"))) {
    return Error(Code::data_corrupt, "a transfer coding other than chunked");
  }
  if (impl_->head.headers.count("host") > 1) return Error(Code::data_corrupt, "more than one Host");
  return taken;
}

bool RequestParser::has_head() const {
  return impl_->is_header_done();
}
const RequestHead& RequestParser::head() const {
  return impl_->head;
}
bool RequestParser::keep_alive() const {
  return impl_->keep_alive();
}
bool RequestParser::is_done() const {
  return impl_->is_done();
}

std::optional<uint64_t> RequestParser::content_length() const {
  const auto length = impl_->content_length();
  if (length) return *length;
  if (!impl_->chunked()) return 0;
  return std::nullopt;
}

Result<RequestParser::Piece> RequestParser::take_body(std::string_view bytes) {
  impl_->eager(true);
  Piece piece;
  piece.taken = PD_TRY(impl_->take(bytes));
  piece.data = std::exchange(impl_->body, {});
  return piece;
}

}  // namespace paddock::net::http
