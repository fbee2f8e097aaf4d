#include "engine/change_request.h"

#include <array>
#include <boost/json.hpp>

#include "base/strings.h"

namespace paddock::engine {
namespace {

namespace json = boost::json;

constexpr std::array kCodes{
    Code::invalid_argument,    Code::not_found, Code::already_exists, Code::permission_denied,
    Code::failed_precondition, Code::conflict,  Code::unsupported,    Code::unavailable,
    Code::resource_exhausted,  Code::timed_out, Code::data_corrupt,   Code::internal};

Error corrupt_message() {
  return Error(Code::data_corrupt, "not a message about rules of a sandbox");
}

Result<json::object> parse_object(std::string_view line) {
  if (line.size() > kMaxChangeBytes) return corrupt_message();
  json::error_code error;
  json::value value = json::parse(json::string_view(line.data(), line.size()), error);
  if (error || !value.is_object()) return corrupt_message();
  return std::move(value.as_object());
}

Result<std::string> text_of(const json::object& from, std::string_view field) {
  const json::value* found = from.if_contains(json::string_view(field.data(), field.size()));
  if (found == nullptr || !found->is_string()) return corrupt_message();
  return printable(found->get_string());
}

}  // namespace

std::string encode(const ChangeRequest& request) {
  json::object out;
  out["verb"] = std::string(name_of(kChangeVerbNames, request.verb));
  out["host"] = request.host;
  return json::serialize(out);
}

Result<ChangeRequest> parse_change_request(std::string_view line) {
  const json::object object = PD_TRY(parse_object(line));
  const std::string verb = PD_TRY(text_of(object, "verb"));
  const auto known = value_of(kChangeVerbNames, verb);
  if (!known) return corrupt_message();
  return ChangeRequest{*known, PD_TRY(text_of(object, "host"))};
}

std::string encode_answer(const Result<std::string>& answer) {
  json::object out;
  if (answer.ok()) {
    out["done"] = *answer;
  } else {
    out["error"] = std::string(to_string(answer.error().code()));
    out["message"] = answer.error().describe();
    out["remedy"] = answer.error().remedy();
  }
  return json::serialize(out);
}

Result<std::string> parse_answer(std::string_view line) {
  const json::object object = PD_TRY(parse_object(line));
  if (object.contains("done")) return PD_TRY(text_of(object, "done"));
  const std::string code = PD_TRY(text_of(object, "error"));
  const std::string message = PD_TRY(text_of(object, "message"));
  const std::string remedy = PD_TRY(text_of(object, "remedy"));
  for (const Code each : kCodes) {
    if (to_string(each) == code) return Error(each, message).set_remedy(remedy);
  }
  return corrupt_message();
}

}  // namespace paddock::engine
