#include "egress/http/request_guard.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/strings.h"

namespace paddock::egress::http {

Refusal refusal_for(const Error& error) {
  Refusal refusal{.status = 502, .rule = {}, .reason = error.describe(), .remedy = error.remedy()};
  if (error.code() == Code::timed_out) refusal.status = 504;
  if (error.code() == Code::permission_denied || error.code() == Code::resource_exhausted) {
    refusal.status = error.code() == Code::permission_denied ? 403 : 429;
    refusal.rule = "egress";
  }
  return refusal;
}

std::string refusal_body(const Refusal& refusal, const Request& request) {
  if (!refusal.body.empty()) return refusal.body;
  boost::json::object out;
  out["error"] = refusal.rule.empty() ? "the gate could not carry this request"
                                      : "this sandbox may not send this request";
  if (!refusal.rule.empty()) out["rule"] = refusal.rule;
  out["reason"] = printable(refusal.reason);
  if (!refusal.remedy.empty()) out["remedy"] = printable(refusal.remedy);
  out["host"] = printable(request.authority);
  out["method"] = printable(request.method);
  out["path"] = printable(request.path());
  return boost::json::serialize(out) + "\n";
}

Fields refusal_fields(const Refusal& refusal, size_t body_size) {
  Fields fields{{"content-type", refusal.body.empty() ? "application/json" : refusal.content_type},
                {"content-length", std::to_string(body_size)},
                {"cache-control", "no-store"}};
  if (!refusal.rule.empty()) fields.push_back({"x-paddock-denied", refusal.rule});
  return fields;
}

std::string_view reason_phrase(uint16_t status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 413:
      return "Content Too Large";
    case 429:
      return "Too Many Requests";
    case 502:
      return "Bad Gateway";
    case 504:
      return "Gateway Timeout";
    default:
      return "Refused";
  }
}

}  // namespace paddock::egress::http
