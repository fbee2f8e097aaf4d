// Who decides on each request that an inspected connection carries, in either version of HTTP.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "egress/http/body_filter.h"
#include "egress/http/body_source.h"
#include "egress/http/message.h"
#include "net/task.h"

namespace paddock::egress::http {

// One request that was let through, until its response has ended.
class AdmittedRequest {
 public:
  virtual ~AdmittedRequest() = default;
  virtual BodyFilter& request_body() = 0;
  // The head of the response, interim ones included: may be changed. An error: it must not reach
  // the program.
  virtual Status see_response(Response& response) = 0;
  virtual BodyFilter& response_body() = 0;
  // Once.
  virtual void ended(const Status& status) = 0;
};

// A refusal, as the program is told.
struct Refusal {
  uint16_t status = 403;
  std::string rule;  // "egress:NAME"; of a failure empty
  std::string reason;
  std::string remedy;
  // The body in a protocol of the program's own, where it has one; JSON otherwise.
  std::string body{};
  std::string content_type{};
};

class RequestGuard {
 public:
  virtual ~RequestGuard() = default;

  struct Answer {
    std::unique_ptr<AdmittedRequest> admitted;  // nullptr: refused
    Refusal refusal;
  };
  // May change the request, and may read of its body (what it keeps to itself it gives back).
  virtual Answer decide(net::Task& task, Request& request, BodySource& body) = 0;
  // Bytes that are no request, or none that can be carried: for the record.
  virtual void see_malformed(const Error& error) = 0;
};

// What a program is told of an error: 403 of what it may not do, 429 of a budget, else 502 or 504.
Refusal refusal_for(const Error& error);

// The body of a response that tells of a refusal, and its fields.
std::string refusal_body(const Refusal& refusal, const Request& request);
Fields refusal_fields(const Refusal& refusal, size_t body_size);
std::string_view reason_phrase(uint16_t status);

}  // namespace paddock::egress::http
