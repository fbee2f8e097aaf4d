#include "api/e2b/body_source.h"

#include <zlib.h>

#include <vector>

#include "base/strings.h"

namespace paddock::api::e2b {
namespace {

using net::http::Exchange;

class Plain : public BodySource {
 public:
  explicit Plain(Exchange& exchange) : exchange_(exchange) {}
  Result<size_t> read(net::Task& task, std::span<char> into) override {
    return exchange_.read_body(task, into);
  }

 private:
  Exchange& exchange_;
};

// Any number of gzip members (RFC 1952). Output is bounded by the caller's buffer, whatever the
// ratio.
class Gunzip : public BodySource {
 public:
  explicit Gunzip(Exchange& exchange) : exchange_(exchange), input_(16u << 10) {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    ok_ = ::inflateInit2(&stream_, kGzipOnly) == Z_OK;
  }
  ~Gunzip() override {
    if (ok_) ::inflateEnd(&stream_);
  }

  Result<size_t> read(net::Task& task, std::span<char> into) override {
    if (!ok_) return Error(Code::resource_exhausted, "unpacking the body: out of memory");
    // SAFETY: zlib takes bytes as unsigned char.
    stream_.next_out = reinterpret_cast<Bytef*>(into.data());
    stream_.avail_out = static_cast<uInt>(into.size());
    while (stream_.avail_out == into.size()) {
      if (stream_.avail_in == 0) {
        const size_t count = PD_TRY(exchange_.read_body(task, input_));
        if (count == 0) {
          if (at_end_) return size_t{0};
          return broken();
        }
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
        stream_.avail_in = static_cast<uInt>(count);
      }
      if (at_end_) {  // another member follows
        ::inflateReset(&stream_);
        at_end_ = false;
      }
      const int status = ::inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {
        at_end_ = true;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        return broken();
      }
    }
    return into.size() - stream_.avail_out;
  }

 private:
  static Error broken() { return Error(Code::invalid_argument, "the body is no whole gzip"); }

  Exchange& exchange_;
  std::vector<char> input_;
  z_stream stream_{};
  bool ok_ = false;
  bool at_end_ = false;
};

}  // namespace

Result<std::unique_ptr<BodySource>> open_body(Exchange& exchange) {
  const std::string_view coding = exchange.request().headers.get("content-encoding");
  if (coding.empty() || net::http::equals_ignoring_case(coding, "identity")) {
    return std::unique_ptr<BodySource>(std::make_unique<Plain>(exchange));
  }
  if (net::http::equals_ignoring_case(coding, "gzip")) {
    return std::unique_ptr<BodySource>(std::make_unique<Gunzip>(exchange));
  }
  return Error(Code::unsupported, "content encoding '" + printable(coding.substr(0, 50)) +
                                      "': only gzip is understood");
}

}  // namespace paddock::api::e2b
