#include "egress/http/http2_proxy.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <optional>

#include "egress/http/http2_session.h"
#include "net/event.h"

namespace paddock::egress::http {
namespace {

using namespace std::chrono_literals;

constexpr auto kHttp2Parting = 2s;
constexpr int kMaxRunning = 512;
// Fields of HTTP/1 that say nothing here, and would be refused (RFC 9113 section 8.2.2).
constexpr std::string_view kOfConnection[] = {"connection",        "keep-alive", "proxy-connection",
                                              "transfer-encoding", "upgrade",    "te"};

// One request, its response, and where both stand.
struct Http2Exchange {
  explicit Http2Exchange(net::Loop& loop)
      : arrived(std::make_shared<net::Event>(loop)),
        to_host(std::make_shared<Http2Outflow>(loop)),
        to_program(std::make_shared<Http2Outflow>(loop)) {}

  Http2StreamId below = 0;             // the program's stream
  std::optional<Http2StreamId> above;  // the host's
  Request request;
  std::unique_ptr<AdmittedRequest> admitted;
  // The request's body, as it arrives.
  std::string body;
  bool body_ended = false;
  Fields body_trailers;
  std::shared_ptr<net::Event> arrived;  // body, its end, or the exchange's
  std::shared_ptr<Http2Outflow> to_host;
  // The response.
  bool answered = false;  // its head has gone to the program
  std::shared_ptr<Http2Outflow> to_program;
  bool over = false;
  bool reported = false;
};
using ExchangePtr = std::shared_ptr<Http2Exchange>;

bool split_pseudo(Fields& fields, Request& request, std::string& scheme) {
  Fields plain;
  for (Field& field : fields) {
    if (!field.name.starts_with(':')) {
      plain.push_back(std::move(field));
    } else if (field.name == ":method") {
      request.method = field.value;
    } else if (field.name == ":path") {
      request.target = field.value;
    } else if (field.name == ":authority") {
      request.authority = field.value;
    } else if (field.name == ":scheme") {
      scheme = field.value;
    } else {
      return false;  // ":protocol" and what may come
    }
  }
  request.fields = std::move(plain);
  return true;
}

// Host beside :authority would be a second opinion.
bool settle_authority(Request& request) {
  const Field* host = find_field(request.fields, "host");
  if (host == nullptr) return !request.authority.empty();
  if (request.authority.empty()) request.authority = host->value;
  const bool same = lower_case(host->value) == lower_case(request.authority);
  remove_field(request.fields, "host");
  return same && find_field(request.fields, "host") == nullptr;
}

Fields request_fields(const Request& request, Scheme scheme) {
  Fields out{{":method", request.method},
             {":scheme", scheme == Scheme::https ? "https" : "http"},
             {":authority", request.authority},
             {":path", request.target}};
  for (const Field& field : request.fields) {
    const bool of_connection = std::find(std::begin(kOfConnection), std::end(kOfConnection),
                                         field.name) != std::end(kOfConnection);
    if (!of_connection || (field.name == "te" && field.value == "trailers")) out.push_back(field);
  }
  return out;
}

Fields response_fields(const Response& response) {
  Fields out{{":status", std::to_string(response.status)}};
  out.insert(out.end(), response.fields.begin(), response.fields.end());
  return out;
}

Status given_up() {
  return Error(Code::unavailable, "HTTP/2: the program gave the request up");
}

class Http2Proxy {
 public:
  Http2Proxy(net::Loop& loop, Http2Connection connection)
      : loop_(loop),
        connection_(std::move(connection)),
        from_program_(*this),
        from_host_(*this),
        program_(loop, Http2Role::server, connection_.client, from_program_),
        host_(loop, Http2Role::client, connection_.upstream, from_host_),
        idle_(loop) {}

  // Four coroutines carry the two sides.
  Status run(net::Task& task) {
    spawn([this](net::Task& t) { read_host(t); });
    // A host that takes no more may have more to say: its reader finds out.
    spawn([this](net::Task& t) {
      if (host_.run_writer(t).ok()) (void)connection_.upstream.end_writing(t);
    });
    spawn([this](net::Task& t) {
      Status status = program_.run_writer(t);
      if (status.ok()) (void)connection_.client.end_writing(t);
      end(std::move(status));
    });
    Status status = program_.receive(std::exchange(connection_.client_prefix, {}));
    if (status.ok()) status = program_.run_reader(task);
    end(std::move(status));
    connection_.upstream.abort();
    idle_.wait_surely(task);
    if (parting_ != nullptr) parting_->disarm();
    return std::move(status_);
  }

 private:
  // --- from the program
  // -----------------------------------------------------------------------------

  class FromProgram : public Http2Events {
   public:
    explicit FromProgram(Http2Proxy& proxy) : proxy_(proxy) {}
    void on_fields(Http2StreamId stream, Fields fields, Last last) override {
      proxy_.on_request_fields(stream, std::move(fields), last);
    }
    void on_data(Http2StreamId stream, std::string_view bytes) override {
      proxy_.on_request_data(stream, bytes);
    }
    void on_end(Http2StreamId stream) override { proxy_.on_request_end(stream); }
    void on_close(Http2StreamId stream, uint32_t error) override {
      proxy_.on_program_close(stream, error);
    }
    void on_going_away() override {}

   private:
    Http2Proxy& proxy_;
  };

  void on_request_fields(Http2StreamId stream, Fields fields, Http2Events::Last last) {
    if (const auto known = by_program_.find(stream); known != by_program_.end()) {
      known->second->body_trailers = std::move(fields);
      on_request_end(stream);
      return;
    }
    auto exchange = std::make_shared<Http2Exchange>(loop_);
    exchange->below = stream;
    exchange->body_ended = last == Http2Events::Last::yes;
    std::string scheme;
    const bool whole = split_pseudo(fields, exchange->request, scheme) &&
                       settle_authority(exchange->request) &&
                       scheme == (connection_.scheme == Scheme::https ? "https" : "http") &&
                       exchange->request.method != "CONNECT";
    if (!whole) {
      connection_.guard.see_malformed(
          Error(Code::data_corrupt, "HTTP/2 request: it cannot be carried"));
    }
    // A program that opens and resets streams without end gets no further either.
    if (!whole || host_ended_ || ended_ || running_ > kMaxRunning) {
      program_.reset(stream, kHttp2Refused);
      return;
    }
    by_program_[stream] = exchange;
    spawn_exchange(exchange);
  }

  void on_request_data(Http2StreamId stream, std::string_view bytes) {
    const auto found = by_program_.find(stream);
    if (found == by_program_.end() || found->second->over) {
      program_.give_back(stream, bytes.size());
      return;
    }
    found->second->body += bytes;
    found->second->arrived->set();
  }

  void on_request_end(Http2StreamId stream) {
    const auto found = by_program_.find(stream);
    if (found == by_program_.end()) return;
    found->second->body_ended = true;
    found->second->arrived->set();
  }

  void on_program_close(Http2StreamId stream, uint32_t error) {
    const auto found = by_program_.find(stream);
    if (found == by_program_.end()) return;
    const ExchangePtr exchange = found->second;
    by_program_.erase(found);
    if (exchange->above && by_host_.contains(*exchange->above))
      host_.reset(*exchange->above, kHttp2Cancel);
    finish(exchange, error == 0 ? Status() : given_up());
    if (host_ended_ && by_program_.empty()) end({});
  }

  // --- a request
  // ------------------------------------------------------------------------------------

  class Body : public BodySource {
   public:
    Body(Http2Proxy& proxy, ExchangePtr exchange) : proxy_(proxy), exchange_(std::move(exchange)) {}
    const Fields& trailers() const override { return exchange_->body_trailers; }

   private:
    Result<std::string> read_some(net::Task& task) override {
      while (exchange_->body.empty() && !exchange_->body_ended) {
        if (exchange_->over || net::loop_of(task).is_ending()) {
          return Error(Code::unavailable, "HTTP/2: the request was given up");
        }
        const auto arrived = exchange_->arrived;
        arrived->wait(task);
        exchange_->arrived = std::make_shared<net::Event>(proxy_.loop_);
      }
      std::string out = std::exchange(exchange_->body, {});
      proxy_.program_.give_back(exchange_->below, out.size());
      return out;
    }

    Http2Proxy& proxy_;
    ExchangePtr exchange_;
  };

  void spawn_exchange(const ExchangePtr& exchange) {
    spawn([this, exchange](net::Task& task) {
      const Status status = carry(task, exchange);
      if (!status.ok() && !exchange->over) fail(exchange, Status(status).error());
    });
  }

  Status carry(net::Task& task, const ExchangePtr& exchange) {
    Body body(*this, exchange);
    auto answer = connection_.guard.decide(task, exchange->request, body);
    if (exchange->over) {
      if (answer.admitted != nullptr) answer.admitted->ended(given_up());
      return {};
    }
    if (answer.admitted == nullptr) {
      refuse(exchange, answer.refusal);
      return {};
    }
    exchange->admitted = std::move(answer.admitted);
    const bool bodiless =
        exchange->body_ended && exchange->body.empty() && exchange->body_trailers.empty();
    exchange->to_host->ended = bodiless;
    auto stream = host_.send_request(request_fields(exchange->request, connection_.scheme),
                                     bodiless ? nullptr : exchange->to_host);
    if (!stream.ok()) return std::move(stream).error();
    exchange->above = *stream;
    by_host_[*stream] = exchange;
    return bodiless ? Status() : send_body(task, exchange, body);
  }

  Status send_body(net::Task& task, const ExchangePtr& exchange, Body& body) {
    BodyFilter& filter = exchange->admitted->request_body();
    Http2Outflow& out = *exchange->to_host;
    while (true) {
      const std::string bytes = PD_TRY(body.read(task));
      if (exchange->over) return {};
      PD_TRY(bytes.empty() ? filter.finish(out.bytes) : filter.feed(bytes, out.bytes));
      if (bytes.empty()) break;
      host_.resume(*exchange->above);
      out.wait_for_room(task);
    }
    Fields trailers = body.trailers();
    PD_TRY(filter.see_trailers(trailers));
    out.trailers = std::move(trailers);
    out.ended = true;
    host_.resume(*exchange->above);
    return {};
  }

  void refuse(const ExchangePtr& exchange, const Refusal& refusal) {
    const std::string body = refusal_body(refusal, exchange->request);
    Fields fields{{":status", std::to_string(refusal.status)}};
    for (Field& field : refusal_fields(refusal, body.size())) fields.push_back(std::move(field));
    exchange->answered = true;
    exchange->to_program->bytes = exchange->request.method == "HEAD" ? "" : body;
    exchange->to_program->ended = true;
    exchange->over = true;
    // What is left of its body will be given back as it comes.
    program_.give_back(exchange->below, std::exchange(exchange->body, {}).size());
    if (!program_.send_response(exchange->below, fields, exchange->to_program).ok()) {
      program_.reset(exchange->below, kHttp2Refused);
    }
  }

  // Something of ours or the host's went wrong with an exchange that is still open.
  void fail(const ExchangePtr& exchange, const Error& error) {
    if (exchange->above && by_host_.contains(*exchange->above))
      host_.reset(*exchange->above, kHttp2Cancel);
    if (exchange->answered) {
      program_.reset(exchange->below, kHttp2InternalError);
    } else {
      refuse(exchange, refusal_for(error));
    }
    finish(exchange, error);
  }

  void finish(const ExchangePtr& exchange, const Status& status) {
    exchange->over = true;
    exchange->arrived->set();
    exchange->to_host->bytes.clear();
    exchange->to_host->emptied();
    if (exchange->admitted != nullptr && !std::exchange(exchange->reported, true)) {
      exchange->admitted->ended(status);
    }
  }

  // --- from the host
  // --------------------------------------------------------------------------------

  class FromHost : public Http2Events {
   public:
    explicit FromHost(Http2Proxy& proxy) : proxy_(proxy) {}
    void on_fields(Http2StreamId stream, Fields fields, Last last) override {
      proxy_.on_response_fields(stream, std::move(fields), last);
    }
    void on_data(Http2StreamId stream, std::string_view bytes) override {
      proxy_.on_response_data(stream, bytes);
    }
    void on_end(Http2StreamId stream) override { proxy_.on_response_end(stream, {}); }
    void on_close(Http2StreamId stream, uint32_t error) override {
      proxy_.on_host_close(stream, error);
    }
    void on_going_away() override { proxy_.on_host_going_away(); }

   private:
    Http2Proxy& proxy_;
  };

  void on_response_fields(Http2StreamId stream, Fields fields, Http2Events::Last last) {
    const auto found = by_host_.find(stream);
    if (found == by_host_.end() || found->second->over) return;
    const ExchangePtr exchange = found->second;
    if (exchange->answered) {
      const Status status = exchange->admitted->response_body().see_trailers(fields);
      if (!status.ok()) return fail(exchange, Status(status).error());
      return on_response_end(stream, std::move(fields));
    }
    Response response;
    for (Field& field : fields) {
      if (field.name == ":status") {
        std::from_chars(field.value.data(), field.value.data() + field.value.size(),
                        response.status);
      } else {
        response.fields.push_back(std::move(field));
      }
    }
    if (const Status seen = exchange->admitted->see_response(response); !seen.ok()) {
      return fail(exchange, Status(seen).error());
    }
    send_head(exchange, response, last);
  }

  void send_head(const ExchangePtr& exchange, const Response& response, Http2Events::Last last) {
    const Fields fields = response_fields(response);
    if (response.status < 200) {
      (void)program_.send_interim(exchange->below, fields);
      return;
    }
    exchange->answered = true;
    const bool bodiless = last == Http2Events::Last::yes;
    exchange->to_program->on_emptied = [this, weak = std::weak_ptr(exchange)] {
      if (const ExchangePtr alive = weak.lock()) pay(*alive);
    };
    if (!program_.send_response(exchange->below, fields, bodiless ? nullptr : exchange->to_program)
             .ok()) {
      program_.reset(exchange->below, kHttp2InternalError);
    }
  }

  // The program has taken bytes: the host may send as many more.
  void pay(Http2Exchange& exchange) {
    const uint64_t unpaid = std::exchange(exchange.to_program->unpaid, 0);
    if (exchange.above && unpaid > 0) host_.give_back(*exchange.above, unpaid);
  }

  void on_response_data(Http2StreamId stream, std::string_view bytes) {
    const auto found = by_host_.find(stream);
    if (found == by_host_.end() || found->second->over) {
      host_.give_back(stream, bytes.size());
      return;
    }
    const ExchangePtr exchange = found->second;
    Http2Outflow& out = *exchange->to_program;
    out.unpaid += bytes.size();
    const Status status = exchange->admitted->response_body().feed(bytes, out.bytes);
    if (!status.ok()) return fail(exchange, Status(status).error());
    if (out.bytes.empty()) pay(*exchange);  // all of it is held back, as little as it is
    program_.resume(exchange->below);
  }

  void on_response_end(Http2StreamId stream, Fields trailers) {
    const auto found = by_host_.find(stream);
    if (found == by_host_.end() || found->second->over) return;
    Http2Exchange& exchange = *found->second;
    (void)exchange.admitted->response_body().finish(exchange.to_program->bytes);
    exchange.to_program->trailers = std::move(trailers);
    exchange.to_program->ended = true;
    program_.resume(exchange.below);
  }

  void on_host_close(Http2StreamId stream, uint32_t error) {
    const auto found = by_host_.find(stream);
    if (found == by_host_.end()) return;
    const ExchangePtr exchange = found->second;
    by_host_.erase(found);
    if (exchange->over) return;
    const bool whole = error == 0 && (exchange->to_program->ended || exchange->answered);
    // A whole response ends for the program when it has taken it (on_program_close).
    if (!whole) program_.reset(exchange->below, error == 0 ? kHttp2InternalError : error);
  }

  // Its open streams go on; the program opens new ones on another connection.
  void on_host_going_away() {
    host_ended_ = true;
    program_.go_away();
  }

  // Responses that are whole are still passed on after the host has closed.
  void read_host(net::Task& task) {
    (void)host_.run_reader(task);
    on_host_going_away();
    const auto open = by_host_;
    for (const auto& [stream, exchange] : open) on_host_close(stream, kHttp2InternalError);
    if (by_program_.empty()) end({});
  }

  // --- ends
  // -----------------------------------------------------------------------------------------

  void spawn(std::function<void(net::Task&)> body) {
    ++running_;
    loop_.spawn([this, body = std::move(body)](net::Task& task) {
      body(task);
      if (--running_ == 0) idle_.set();
    });
  }

  // The first to call says why. The writers tell both sides, which get a moment to close.
  void end(Status status) {
    if (std::exchange(ended_, true)) return;
    status_ = std::move(status);
    program_.stop();
    host_.stop();
    for (const auto& [stream, exchange] : by_program_)
      finish(exchange, Error(Code::unavailable, "HTTP/2: the connection ended"));
    if (!status_.ok()) {
      connection_.client.abort();
      connection_.upstream.abort();
      return;
    }
    parting_ = std::make_unique<net::Deadline>(loop_, kHttp2Parting, [this] {
      connection_.client.abort();
      connection_.upstream.abort();
    });
  }

  net::Loop& loop_;
  Http2Connection connection_;
  FromProgram from_program_;
  FromHost from_host_;
  Http2Session program_;
  Http2Session host_;
  std::map<Http2StreamId, ExchangePtr> by_program_;
  std::map<Http2StreamId, ExchangePtr> by_host_;
  bool host_ended_ = false;  // or takes no more
  int running_ = 0;
  net::Event idle_;  // no coroutine of ours is left but the first
  bool ended_ = false;
  std::unique_ptr<net::Deadline> parting_;
  Status status_;
};

}  // namespace

Status serve_http2(net::Task& task, Http2Connection connection) {
  return Http2Proxy(net::loop_of(task), std::move(connection)).run(task);
}

}  // namespace paddock::egress::http
