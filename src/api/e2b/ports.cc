#include "api/e2b/ports.h"

#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "api/e2b/access.h"
#include "api/e2b/port_heads.h"
#include "api/e2b/rpc.h"
#include "base/strings.h"
#include "egress/http/http1_body.h"
#include "egress/http/response_head.h"
#include "net/event.h"
#include "net/pump.h"

namespace paddock::api::e2b {
namespace {

using namespace std::chrono_literals;

using egress::http::Http1Body;
using egress::http::Inflow;
using egress::http::ResponseHead;
using net::http::Exchange;

// For the rest of a response whose client has ended its side: who only half-closed still reads it.
constexpr auto kAfterClient = 60s;
constexpr auto kStartingRound = 20ms;

Status answer(const PortCall& call, int status, std::string message) {
  boost::json::object body;
  body["sandboxId"] = call.sandbox.id();
  body["message"] = std::move(message);
  body["port"] = call.port;
  body["code"] = status;
  return respond_json(call.task, call.exchange, status, body);
}

// One request to the program inside and its response, two coroutines: this one writes to the
// client, another one reads from it.
class Passage {
 public:
  Passage(const PortCall& call, std::unique_ptr<engine::PortStream> port)
      : call_(call), port_(std::move(port)), sent_(net::loop_of(call.task)) {
    inflow_.stream = port_.get();
  }

  Status run() {
    const net::http::RequestHead& request = call_.exchange.request();
    PassOptions options{
        host_inside(call_.sandbox.network().host_mask, request.headers.get("host"), call_.port),
        {call_.access_token},
        call_.scheme};
    head_ = pass_request(request, options);
    call_.exchange.on_client_gone([this] { on_client_gone(); });
    net::loop_of(call_.task).spawn([this](net::Task& sender) {
      send_request(sender);
      sent_.set();
    });
    Status passed = pass_response_on();
    call_.exchange.on_client_gone(nullptr);
    // The sender refers to this frame. It may wait for a client that sends no more, or for a
    // program that takes no more.
    if (!sent_.is_set()) {
      call_.exchange.stop_reading();
      port_->abort();
      sent_.wait_surely(call_.task);
    }
    if (passed.ok()) (void)port_->end_writing(call_.task).ok();
    return passed;
  }

 private:
  void on_client_gone() {
    client_gone_ = true;
    rearm();
  }

  void rearm() {
    if (!client_gone_) return;
    patience_.emplace(net::loop_of(call_.task), kAfterClient, [this] { port_->abort(); });
  }

  // Errors show on the other side: a program that takes no more may still answer.
  void send_request(net::Task& task) {
    if (!port_->write(task, head_.text).ok()) return;
    std::array<char, 16384> piece;
    const bool chunked = head_.body == PassedHead::Body::chunked;
    while (head_.body != PassedHead::Body::none) {
      auto count = call_.exchange.read_body(task, piece);
      if (!count.ok()) return port_->abort();  // a body cut short must not look whole
      if (*count == 0) break;
      const std::string_view bytes(piece.data(), *count);
      if (!port_->write(task, chunked ? egress::http::chunk_of(bytes) : std::string(bytes)).ok()) {
        return;
      }
    }
    if (chunked) (void)port_->write(task, egress::http::last_chunk({})).ok();
  }

  Result<ResponseHead> read_head() {
    const std::string& method = call_.exchange.request().method;
    while (true) {
      auto head = PD_TRY(egress::http::parse_response_head(inflow_.pending, method));
      if (head) {
        inflow_.pending.erase(0, head->size);
        if (!head->interim) return std::move(*head);
        continue;
      }
      if (PD_TRY(inflow_.read_more(call_.task)) == 0) {
        return Error(Code::unavailable, "it closed the connection without a response");
      }
    }
  }

  Status pass_response_on() {
    auto head = read_head();
    if (!head.ok()) {
      return answer(
          call_, 502,
          "The sandbox is running but port gives no HTTP response: " + head.error().describe());
    }
    if (head->response.status == 101) {
      if (head_.upgrades) return pass_upgraded(*head);
      return answer(call_, 502, "The port switched protocols, and nobody asked for it");
    }
    std::optional<uint64_t> length;
    if (head->body.kind == egress::http::BodyKind::sized) length = head->body.size;
    const bool is_head = call_.exchange.request().method == "HEAD";
    if (is_head) length = length_of(*head);
    PD_TRY(call_.exchange.begin(call_.task, pass_response(*head), length));
    return pass_body(*head);
  }

  // What a GET would have given.
  static std::optional<uint64_t> length_of(const ResponseHead& head) {
    const auto* field = egress::http::find_field(head.response.fields, "content-length");
    return field == nullptr ? std::nullopt : parse_u64(field->value);
  }

  // A response that breaks off is broken off here: its end must not look like the whole.
  Status pass_body(const ResponseHead& head) {
    Http1Body body(inflow_, head.body);
    while (head.body.kind != egress::http::BodyKind::none) {
      rearm();
      const std::string bytes = PD_TRY(body.read(call_.task));
      if (bytes.empty()) break;
      PD_TRY(call_.exchange.write(call_.task, bytes));
    }
    return call_.exchange.finish(call_.task);
  }

  Status pass_upgraded(const ResponseHead& head) {
    patience_.reset();
    client_gone_ = false;
    call_.exchange.on_client_gone(nullptr);
    net::Stream* client = PD_TRY(call_.exchange.switch_protocols(call_.task, pass_response(head)));
    if (!inflow_.pending.empty()) {
      PD_TRY(client->write(call_.task, std::exchange(inflow_.pending, {})));
    }
    return net::pump_both_ways(call_.task, *client, *port_, {});
  }

  const PortCall& call_;
  std::unique_ptr<engine::PortStream> port_;
  PassedHead head_;
  Inflow inflow_;
  net::Event sent_;
  std::optional<net::Deadline> patience_;
  bool client_gone_ = false;
};

bool is_refused(const Error& error) {
  return error.errno_value() == ECONNREFUSED;
}

// A service of the template may be on its way still.
Result<std::unique_ptr<engine::PortStream>> connect(const PortCall& call) {
  while (true) {
    auto port = call.sandbox.connect(call.task, call.port);
    if (port.ok() || !is_refused(port.error()) || !call.sandbox.is_starting(call.port)) return port;
    call.task.sleep(kStartingRound);
  }
}

}  // namespace

Status serve_port(const PortCall& call) {
  const engine::NetworkRequest& network = call.sandbox.network();
  if (network.traffic == engine::NetworkRequest::Traffic::with_token) {
    const std::string_view given = call.exchange.request().headers.get("e2b-traffic-access-token");
    if (!equal_in_constant_time(given, call.traffic_token)) {
      return answer(call, 403,
                    given.empty() ? "Sandbox is secured with traffic access token. Token header "
                                    "'e2b-traffic-access-token' is missing"
                                  : "Sandbox is secured with traffic access token. Provided token "
                                    "is invalid");
    }
  }
  auto port = connect(call);
  if (port.ok()) return Passage(call, std::move(*port)).run();
  const Error& error = port.error();
  if (is_refused(error)) {
    return answer(call, 502, "The sandbox is running but port is not open");
  }
  return answer(call, 502, "The sandbox is running but port is not reachable: " + error.describe());
}

}  // namespace paddock::api::e2b
