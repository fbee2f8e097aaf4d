#include "egress/http/http1_proxy.h"

#include <fmt/core.h>

#include <memory>
#include <optional>

#include "egress/http/http1_body.h"
#include "egress/http/response_head.h"
#include "net/event.h"
#include "net/pump.h"

namespace paddock::egress::http {
namespace {

using namespace std::chrono_literals;

constexpr auto kHttp1Parting = 2s;           // for a peer to close after we did
constexpr auto kLateBody = 30s;              // of a request that was answered already
constexpr size_t kMaxDrained = 1024 * 1024;  // of a body that nobody reads

// A request that was sent on and the response that is awaited.
struct Http1Exchange {
  Http1Exchange(net::Loop& loop, RequestHead asked) : head(std::move(asked)), done(loop) {}

  RequestHead head;
  std::unique_ptr<AdmittedRequest> admitted;
  net::Event done;           // its response has been passed on, or never will be
  bool keeps_alive = false;  // after it
  bool sent = false;         // its body is on its way as a whole
  bool upgraded = false;
  bool answered = false;  // the program has seen something of a response
  Status refused;         // by the body's filter, while it was being sent
};

Code code_of(const Status& status) {
  return status.ok() ? Code::internal : Status(status).error().code();
}

// Two coroutines: one reads requests and sends them on, one passes responses back. Only the second
// writes to the client while an exchange is open, only the first while none is.
class Http1Proxy {
 public:
  Http1Proxy(net::Loop& loop, Http1Connection connection)
      : loop_(loop), connection_(std::move(connection)), responses_ended_(loop) {
    requests_.stream = &connection_.client;
    requests_.pending = std::move(connection_.client_prefix);
  }

  Status run(net::Task& task) {
    Status status = carry_requests(task);
    if (upstream_ != nullptr) part(task, status);
    return status;
  }

 private:
  enum class Next { request, end };

  Status carry_requests(net::Task& task) {
    while (true) {
      auto head = read_request_head(task);
      if (!head.ok()) return refuse_malformed(task, head.error());
      if (!head->has_value()) return {};
      if (upstream_ended_) return Error(Code::unavailable, "HTTP: the host closed the connection");
      if (PD_TRY(carry(task, std::move(**head))) == Next::end) return {};
    }
  }

  // nullopt: the client has ended, between two requests.
  Result<std::optional<RequestHead>> read_request_head(net::Task& task) {
    while (true) {
      auto head = PD_TRY(parse_request_head(requests_.pending, connection_.scheme));
      if (head) {
        requests_.pending.erase(0, head->size);
        return head;
      }
      size_t seen = requests_.pending.size();
      while (requests_.pending.find('\n', seen) == std::string::npos) {
        seen = requests_.pending.size();
        if (seen >= kMaxHead) break;  // the parser says so
        if (PD_TRY(requests_.read_more(task)) > 0) continue;
        if (requests_.pending.empty()) return std::optional<RequestHead>();
        return Error(Code::unavailable, "HTTP: the connection ended inside a request's head");
      }
    }
  }

  Result<Next> carry(net::Task& task, RequestHead head) {
    auto exchange = std::make_shared<Http1Exchange>(loop_, std::move(head));
    Http1Body body(requests_, exchange->head.body);
    if (exchange->head.expects_continue) {
      body.set_before_reading(
          [this, exchange](net::Task& reader) { return go_on(reader, *exchange); });
    }
    auto answer = connection_.guard.decide(task, exchange->head.request, body);
    if (answer.admitted == nullptr) return refuse(task, answer.refusal, exchange->head);
    exchange->admitted = std::move(answer.admitted);
    body.set_before_reading(nullptr);
    if (const Status connected = connect(task); !connected.ok()) {
      exchange->admitted->ended(connected);
      return refuse(task, refusal_for(Status(connected).error()), exchange->head);
    }
    return send_on(task, exchange, body);
  }

  // The guard wants to see the body: the client must be told to send it, and the host need not be
  // asked any more.
  Status go_on(net::Task& task, Http1Exchange& exchange) {
    remove_field(exchange.head.request.fields, "expect");
    return connection_.client.write(task, "HTTP/1.1 100 Continue\r\n\r\n");
  }

  Status connect(net::Task& task) {
    if (upstream_ != nullptr) return {};
    upstream_ = PD_TRY(connection_.upstream(task));
    responses_.stream = upstream_;
    loop_.spawn([this](net::Task& other) {
      carry_responses(other);
      responses_ended_.set();
    });
    return {};
  }

  Result<Next> send_on(net::Task& task, const std::shared_ptr<Http1Exchange>& exchange,
                       Http1Body& body) {
    open_ = exchange;
    ++exchanges_;
    Status sent = upstream_->write(task, serialize(exchange->head));
    if (sent.ok()) {
      sent = send_http1_body(task, *upstream_, body, exchange->head.body,
                             exchange->admitted->request_body());
    }
    exchange->sent = sent.ok();
    // What the host does not take is for its response to explain. A program that is gone, a filter
    // that refuses, or bytes that are no body: the host must not wait for the rest.
    if (!sent.ok() && (code_of(sent) != Code::unavailable || body.is_broken())) {
      exchange->refused = sent;
      upstream_->abort();
    }
    exchange->done.wait_surely(task);
    if (exchange->upgraded) return carry_upgraded(task, *exchange);
    PD_TRY(broken_);
    return sent.ok() && exchange->keeps_alive ? Next::request : Next::end;
  }

  static net::Tap tap_of(BodyFilter& filter) {
    const auto passed = std::make_shared<std::string>();
    return [&filter, passed](std::string_view bytes) -> Result<std::string_view> {
      passed->clear();
      PD_TRY(bytes.empty() ? filter.finish(*passed) : filter.feed(bytes, *passed));
      return std::string_view(*passed);
    };
  }

  // From now on frames of a WebSocket.
  Result<Next> carry_upgraded(net::Task& task, Http1Exchange& exchange) {
    net::Stream& client = connection_.client;
    const net::Tap tap = tap_of(exchange.admitted->request_body());
    if (!requests_.pending.empty()) {
      const std::string_view first = PD_TRY(tap(requests_.pending));
      PD_TRY(upstream_->write(task, first));
    }
    PD_TRY(net::pump(task, client, *upstream_, tap));
    return Next::end;
  }

  // --- responses
  // ------------------------------------------------------------------------------------

  void carry_responses(net::Task& task) {
    Status status;
    while (status.ok()) {
      auto exchange = await_response(task);
      if (!exchange.ok()) {
        status = std::move(exchange).error();
        break;
      }
      if (*exchange == nullptr) break;
      status = carry_response(task, **exchange);
      if (status.ok() && !(*exchange)->keeps_alive) break;
    }
    end_responses(task, status);
  }

  // The open exchange, once bytes of a response are there; nullptr: the host ended while none was.
  Result<std::shared_ptr<Http1Exchange>> await_response(net::Task& task) {
    if (responses_.pending.empty() && PD_TRY(responses_.read_more(task)) == 0) {
      if (open_ == nullptr) return std::shared_ptr<Http1Exchange>();
      return Error(Code::unavailable, "HTTP: the host closed the connection without a response");
    }
    if (open_ == nullptr) return Error(Code::data_corrupt, "HTTP: a response without a request");
    return open_;
  }

  Result<ResponseHead> read_response_head(net::Task& task, const std::string& method) {
    while (true) {
      auto head = PD_TRY(parse_response_head(responses_.pending, method));
      if (head) {
        responses_.pending.erase(0, head->size);
        return std::move(*head);
      }
      if (PD_TRY(responses_.read_more(task)) == 0) {
        return Error(Code::unavailable, "HTTP: the connection ended inside a response's head");
      }
    }
  }

  Status carry_response(net::Task& task, Http1Exchange& exchange) {
    while (true) {
      ResponseHead head = PD_TRY(read_response_head(task, exchange.head.request.method));
      if (head.response.status == 101 && !exchange.head.upgrades) {
        return Error(Code::data_corrupt, "HTTP: a switch of protocols that nobody asked for");
      }
      PD_TRY(exchange.admitted->see_response(head.response));
      exchange.answered = true;
      PD_TRY(connection_.client.write(task, serialize(head)));
      if (head.interim) continue;
      if (head.response.status == 101) return carry_upgraded_response(task, exchange);
      return carry_response_body(task, exchange, head);
    }
  }

  Status carry_response_body(net::Task& task, Http1Exchange& exchange, const ResponseHead& head) {
    Http1Body body(responses_, head.body);
    PD_TRY(send_http1_body(task, connection_.client, body, head.body,
                           exchange.admitted->response_body()));
    // A response before the whole request: whether its rest comes is the client's choice, and what
    // comes next cannot be told from it.
    exchange.keeps_alive = head.keeps_alive && exchange.head.keeps_alive && exchange.sent;
    if (!exchange.sent) patience_.emplace(loop_, kLateBody, [this] { connection_.client.abort(); });
    close_exchange({});
    return {};
  }

  Status carry_upgraded_response(net::Task& task, Http1Exchange& exchange) {
    upgraded_ = exchange.upgraded = true;
    const std::shared_ptr<Http1Exchange> kept = open_;
    open_ = nullptr;
    exchange.done.set();
    const Status status = pump_upgraded_response(task, tap_of(kept->admitted->response_body()));
    kept->admitted->ended(status);
    if (!status.ok()) {
      connection_.client.abort();
      upstream_->abort();
    }
    return {};
  }

  Status pump_upgraded_response(net::Task& task, const net::Tap& tap) {
    if (!responses_.pending.empty()) {
      const std::string_view first = PD_TRY(tap(responses_.pending));
      PD_TRY(connection_.client.write(task, first));
    }
    return net::pump(task, *upstream_, connection_.client, tap);
  }

  void close_exchange(const Status& status) {
    open_->admitted->ended(status);
    open_->done.set();
    open_ = nullptr;
  }

  // No response will come any more: the program is told in the best way that is left.
  void end_responses(net::Task& task, Status status) {
    upstream_ended_ = true;
    const std::shared_ptr<Http1Exchange> exchange = open_;
    if (exchange == nullptr) {
      (void)connection_.client.end_writing(task);
      return;
    }
    if (!exchange->refused.ok()) status = exchange->refused;
    if (status.ok()) status = Error(Code::unavailable, "HTTP: the host ended the connection");
    const Error error = Status(status).error();
    // A host may close a kept connection at any time; the client repeats the request on a reset.
    const bool stale = exchanges_ > 1 && error.code() == Code::unavailable;
    if (exchange->answered || stale) {
      broken_ = error;
      connection_.client.abort();
    } else {
      Refusal refusal = refusal_for(error);
      if (!exchange->refused.ok() && error.code() == Code::data_corrupt) refusal.status = 400;
      (void)send_refusal(task, refusal, exchange->head, Next::end);
      (void)connection_.client.end_writing(task);
    }
    upstream_->abort();
    close_exchange(error);
  }

  // --- refusals
  // -------------------------------------------------------------------------------------

  Status send_refusal(net::Task& task, const Refusal& refusal, const RequestHead& head, Next next) {
    const std::string body = refusal_body(refusal, head.request);
    ResponseHead response{.response = {.status = refusal.status,
                                       .reason = std::string(reason_phrase(refusal.status)),
                                       .fields = refusal_fields(refusal, body.size())},
                          .body = {},
                          .minor_version = head.minor_version,
                          .keeps_alive = next == Next::request,
                          .interim = false,
                          .size = 0};
    response.response.fields.push_back(
        {"connection", next == Next::request ? "keep-alive" : "close"});
    return connection_.client.write(
        task, serialize(response) + (head.request.method == "HEAD" ? "" : body));
  }

  Result<Next> refuse(net::Task& task, const Refusal& refusal, const RequestHead& head) {
    const bool whole = head.body.kind == BodyKind::none;
    const Next next = whole && head.keeps_alive ? Next::request : Next::end;
    PD_TRY(send_refusal(task, refusal, head, next));
    if (next == Next::end) drain(task);
    return next;
  }

  Status refuse_malformed(net::Task& task, const Error& error) {
    if (error.code() != Code::data_corrupt && error.code() != Code::unsupported) return error;
    connection_.guard.see_malformed(error);
    const Refusal refusal{
        .status = static_cast<uint16_t>(error.code() == Code::unsupported ? 403 : 400),
        .rule = "egress",
        .reason = error.describe(),
        .remedy = error.remedy()};
    PD_TRY(send_refusal(task, refusal, RequestHead(), Next::end));
    drain(task);
    return {};
  }

  // A close with bytes unread would be a reset, which can overtake the response.
  void drain(net::Task& task) {
    (void)connection_.client.end_writing(task);
    net::Deadline deadline(loop_, kHttp1Parting, [this] { connection_.client.abort(); });
    for (size_t drained = 0; drained < kMaxDrained; drained += requests_.pending.size()) {
      requests_.pending.clear();
      auto more = requests_.read_more(task);
      if (!more.ok() || *more == 0) return;
    }
  }

  // Ends the other coroutine.
  void part(net::Task& task, const Status& status) {
    if (!status.ok() || !upstream_->end_writing(task).ok()) upstream_->abort();
    if (status.ok() && upgraded_) responses_ended_.wait_surely(task);
    if (responses_ended_.wait_for(task, kHttp1Parting) == net::Event::Outcome::timed_out)
      upstream_->abort();
    responses_ended_.wait_surely(task);
  }

  net::Loop& loop_;
  Http1Connection connection_;
  Inflow requests_;
  Inflow responses_;
  net::Stream* upstream_ = nullptr;  // nullptr: not asked for yet
  bool upstream_ended_ = false;
  Status broken_;  // a response that was begun and will not be whole
  bool upgraded_ = false;
  size_t exchanges_ = 0;
  std::optional<net::Deadline> patience_;
  std::shared_ptr<Http1Exchange> open_;
  net::Event responses_ended_;
};

}  // namespace

Status serve_http1(net::Task& task, Http1Connection connection) {
  return Http1Proxy(net::loop_of(task), std::move(connection)).run(task);
}

}  // namespace paddock::egress::http
