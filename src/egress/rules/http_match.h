// The HTTP conditions of one rule against one request.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "egress/http/message.h"
#include "model/egress.h"

namespace paddock::egress {

class HttpMatch {
 public:
  // invalid_argument: a path that does not begin with '/', a method or header name that is none, a
  // condition on a header that frames the message or names the host.
  static Result<HttpMatch> compile(const model::HttpConditions& conditions);

  bool empty() const { return conditions_.empty(); }
  // For a rule that lets through: every reading of the request meets the conditions.
  bool grants(const http::Request& request) const;
  // For a rule that refuses: some reading does, capitals and a slash at the end aside.
  bool refuses(const http::Request& request) const;

 private:
  model::HttpConditions conditions_;  // header names in lower case
};

// Parameters of a raw query, decoded, in order.
std::vector<std::pair<std::string, std::string>> query_parameters(std::string_view raw);

}  // namespace paddock::egress
