#include "egress/http/client.h"

#include <fmt/core.h>

#include "egress/http/http1_body.h"
#include "egress/http/request_head.h"
#include "egress/http/response_head.h"

namespace paddock::egress::http {
namespace {

Status send(net::Task& task, net::Stream& stream, Asked& asked) {
  RequestHead head;
  head.request = std::move(asked.request);
  set_field(head.request.fields, "connection", "close");
  if (asked.body) {
    set_field(head.request.fields, "content-length", std::to_string(asked.body_size));
  }
  const std::string text = serialize(head);
  asked.request = std::move(head.request);
  PD_TRY(stream.write(task, text));
  for (uint64_t sent = 0; asked.body && sent < asked.body_size;) {
    const std::string bytes = PD_TRY(asked.body());
    if (bytes.empty()) return Error(Code::data_corrupt, "the body of a request is cut off");
    sent += bytes.size();
    PD_TRY(stream.write(task, bytes));
  }
  return {};
}

// Interim heads are passed over.
Result<ResponseHead> read_head(net::Task& task, Inflow& inflow, const std::string& method) {
  while (true) {
    if (auto head = PD_TRY(parse_response_head(inflow.pending, method))) {
      inflow.pending.erase(0, head->size);
      if (!head->interim) return std::move(*head);
    } else if (PD_TRY(inflow.read_more(task)) == 0) {
      return Error(Code::unavailable, "HTTP: the host closed the connection without a response");
    }
  }
}

}  // namespace

Result<Answered> ask(net::Task& task, net::Stream& stream, Asked asked) {
  const Status sent = send(task, stream, asked);
  Inflow inflow{.stream = &stream, .pending = {}};
  auto head = read_head(task, inflow, asked.request.method);
  if (!head.ok()) return sent.ok() ? std::move(head).error() : Status(sent).error();
  Answered out{.response = std::move(head->response), .body = {}};
  Http1Body body(inflow, head->body);
  while (true) {
    const std::string more = PD_TRY(body.read(task));
    if (more.empty()) return out;
    out.body += more;
    if (out.body.size() > asked.answer_limit) {
      return Error(Code::resource_exhausted,
                   fmt::format("an answer of more than {} bytes", asked.answer_limit));
    }
  }
}

}  // namespace paddock::egress::http
