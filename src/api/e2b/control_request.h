// One request of the control plane on its way to an answer, and the forms that answers take.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "api/e2b/control.h"
#include "api/e2b/control_json.h"
#include "api/e2b/envd.h"

namespace paddock::api::e2b {

// Lives as long as the handler of its request.
struct ControlRequest {
  net::Task& task;
  net::http::Exchange& exchange;
  const ControlOptions& options;
  std::vector<std::string> path;  // segments, decoded, without the version
  ApiVersion version = ApiVersion::v1;

  const std::string& method() const { return exchange.request().method; }
  // Of a caller whom we know; others get no further than serve_control().
  const model::Caller& caller() const { return *options.caller; }
};

// {code, message}, the remedy in the message.
Status fail(const ControlRequest& request, const Error& error);
Status fail(const ControlRequest& request, int status, const std::string& message);
Status answer(const ControlRequest& request, int status, const boost::json::value& body);
Status answer_nothing(const ControlRequest& request);
// The body as an object; none at all is an empty one.
Result<boost::json::object> read_body(const ControlRequest& request);

Reach reach_of(const ControlRequest& request, const engine::LiveSandbox& sandbox);

// `limit` of a list: how many at once, the most where it is not said. invalid_argument.
Result<size_t> page_limit(const Query& query);

// invalid_argument: longer than the server gives.
Status check_timeout(const ControlRequest& request, int64_t ms);

}  // namespace paddock::api::e2b
