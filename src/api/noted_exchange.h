// An exchange that takes note of what it was about and how it was answered.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "model/owner.h"
#include "net/http/exchange.h"

namespace paddock::api {

// Bounded, and without bodies, queries or secrets.
struct RequestNote {
  std::string_view route = "other";  // a class: one of few
  std::string method;
  std::string path;     // without the query; empty where it is a program's own
  std::string sandbox;  // empty: of none
  std::optional<model::Caller> caller;
  model::Owner owner;  // of the sandbox
  int status = 0;      // 0: not answered
  uint64_t received = 0;
  uint64_t sent = 0;
  int64_t began_us = 0;
  bool is_stream = false;  // answered in pieces, for as long as it takes
  std::string failure;     // what the answer says beyond its status
};

// Passes everything on. `on_stream` is called when an answer in pieces begins, which may last.
class NotedExchange : public net::http::Exchange {
 public:
  NotedExchange(net::http::Exchange& exchange, RequestNote note,
                std::function<void(const RequestNote&)> on_stream)
      : exchange_(exchange), note_(std::move(note)), on_stream_(std::move(on_stream)) {}

  RequestNote& note() { return note_; }

  const net::http::RequestHead& request() const override { return exchange_.request(); }
  Result<size_t> read_body(net::Task& task, std::span<char> into) override {
    const size_t count = PD_TRY(exchange_.read_body(task, into));
    note_.received += count;
    return count;
  }
  Status respond(net::Task& task, const net::http::Response& response) override {
    note_.status = response.status;
    note_.sent += response.body.size();
    return exchange_.respond(task, response);
  }
  Status begin(net::Task& task, const net::http::Response& head,
               std::optional<uint64_t> length) override {
    note_.status = head.status;
    note_.is_stream = !length;
    if (note_.is_stream) on_stream_(note_);
    return exchange_.begin(task, head, length);
  }
  Status write(net::Task& task, std::string_view piece) override {
    note_.sent += piece.size();
    return exchange_.write(task, piece);
  }
  Status finish(net::Task& task) override { return exchange_.finish(task); }
  bool has_begun() const override { return exchange_.has_begun(); }
  void on_client_gone(std::function<void()> notify) override {
    exchange_.on_client_gone(std::move(notify));
  }
  void stop_reading() override { exchange_.stop_reading(); }
  Result<net::Stream*> switch_protocols(net::Task& task, const net::http::Response& head) override {
    note_.status = head.status;
    note_.is_stream = true;
    on_stream_(note_);
    return exchange_.switch_protocols(task, head);
  }
  void note_failure(std::string_view what) override { note_.failure = what; }

 private:
  net::http::Exchange& exchange_;
  RequestNote note_;
  std::function<void(const RequestNote&)> on_stream_;
};

}  // namespace paddock::api
