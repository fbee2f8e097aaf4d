// Bodies of HTTP/1 messages, read from and written to streams.
#pragma once

#include <functional>
#include <string>

#include "egress/http/body_filter.h"
#include "egress/http/body_source.h"
#include "egress/http/chunked.h"
#include "egress/http/framing.h"
#include "net/stream.h"

namespace paddock::egress::http {

// Bytes of a stream that were read and not used yet.
struct Inflow {
  net::Stream* stream = nullptr;
  std::string pending;

  // Reads once more behind what is pending; 0: the stream has ended.
  Result<size_t> read_more(net::Task& task);
};

// A message's body. The inflow is left behind its last byte.
class Http1Body : public BodySource {
 public:
  Http1Body(Inflow& inflow, Body body) : inflow_(inflow), body_(body), left_(body.size) {}

  const Fields& trailers() const override { return decoder_.trailers(); }
  // Called once, before the stream is read for it (what is pending does not count).
  void set_before_reading(std::function<Status(net::Task&)> call) { before_ = std::move(call); }

  // Whether reading has failed: no more will come.
  bool is_broken() const { return broken_; }

 private:
  Result<std::string> read_some(net::Task& task) override;
  Result<std::string> read_any(net::Task& task);
  Result<std::string> read_sized(net::Task& task);
  Result<std::string> read_chunked(net::Task& task);
  Result<size_t> read_more(net::Task& task);

  Inflow& inflow_;
  Body body_;
  uint64_t left_;
  ChunkedDecoder decoder_;
  std::function<Status(net::Task&)> before_;
  bool broken_ = false;
};

// Sends the whole body in the framing that its head declares, each piece as it comes.
Status send_http1_body(net::Task& task, net::Stream& to, BodySource& from, const Body& framing,
                       BodyFilter& filter);

}  // namespace paddock::egress::http
