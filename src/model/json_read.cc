#include <fmt/core.h>

#include <boost/json.hpp>

#include "base/strings.h"
#include "model/json.h"

namespace paddock::model {
namespace {

using boost::json::object;

Error corrupt(std::string_view field, std::string_view expected) {
  return Error(Code::data_corrupt, fmt::format("field '{}' is not {}", field, expected));
}

template <typename Number>
Result<Number> get_number(const object& from, std::string_view field) {
  const boost::json::value* found = from.if_contains(field);
  if (found == nullptr) return Number{};
  boost::json::error_code error;
  auto number = found->to_number<Number>(error);
  if (error) return corrupt(field, "a number in range");
  return number;
}

Result<bool> get_flag(const object& from, std::string_view field) {
  const boost::json::value* found = from.if_contains(field);
  if (found == nullptr) return false;
  if (!found->is_bool()) return corrupt(field, "true or false");
  return found->get_bool();
}

template <typename E, size_t N>
Result<E> get_name(const object& from, std::string_view field, const EnumNames<E, N>& names) {
  const boost::json::value* found = from.if_contains(field);
  const boost::json::string* text = found == nullptr ? nullptr : found->if_string();
  auto value = text == nullptr ? std::nullopt : value_of(names, std::string_view(*text));
  if (!value) return corrupt(field, list_names(names));
  return *value;
}

// Absent is an empty object.
Result<object> get_object(const object& from, std::string_view field) {
  const boost::json::value* found = from.if_contains(field);
  if (found == nullptr) return object();
  if (!found->is_object()) return corrupt(field, "an object");
  return found->get_object();
}

Result<Usage> read_usage(const object& from) {
  Usage usage;
  usage.wall_us = PD_TRY(get_number<uint64_t>(from, "wall_us"));
  usage.user_us = PD_TRY(get_number<uint64_t>(from, "user_us"));
  usage.system_us = PD_TRY(get_number<uint64_t>(from, "system_us"));
  usage.peak_memory_bytes = PD_TRY(get_number<uint64_t>(from, "peak_memory_bytes"));
  usage.stdout_bytes = PD_TRY(get_number<uint64_t>(from, "stdout_bytes"));
  usage.stderr_bytes = PD_TRY(get_number<uint64_t>(from, "stderr_bytes"));
  return usage;
}

Result<Denial> read_denial(const object& from) {
  Denial denial;
  denial.kind = PD_TRY(get_name(from, "kind", kDenialKindNames));
  denial.what = PD_TRY(get_bytes(from, "what"));
  denial.rule = PD_TRY(get_bytes(from, "rule"));
  denial.remedy = PD_TRY(get_bytes(from, "remedy"));
  denial.pid = PD_TRY(get_number<int64_t>(from, "pid"));
  denial.process = PD_TRY(get_bytes(from, "process"));
  denial.count = PD_TRY(get_number<uint64_t>(from, "count"));
  denial.first_ms = PD_TRY(get_number<int64_t>(from, "first_ms"));
  return denial;
}

Result<Control> read_control(const object& from) {
  Control control{};
  control.name = PD_TRY(get_bytes(from, "name"));
  control.state = PD_TRY(get_name(from, "state", kControlStateNames));
  control.detail = PD_TRY(get_bytes(from, "detail"));
  return control;
}

template <typename T>
Result<std::vector<T>> read_list(const object& from, std::string_view field,
                                 Result<T> (*read)(const object&)) {
  std::vector<T> list;
  const boost::json::value* found = from.if_contains(field);
  if (found == nullptr) return list;
  if (!found->is_array()) return corrupt(field, "a list");
  for (const boost::json::value& entry : found->get_array()) {
    if (!entry.is_object()) return corrupt(field, "a list of objects");
    list.push_back(PD_TRY_CTX(fmt::format("in list '{}'", field), read(entry.get_object())));
  }
  return list;
}

Result<object> parse_object(std::string_view text) {
  boost::json::value value = PD_TRY(parse_json(text));
  if (!value.is_object()) return Error(Code::data_corrupt, "not a JSON object");
  return std::move(value.get_object());
}

Result<Outcome> read_outcome(const object& from) {
  Outcome outcome;
  outcome.ending = PD_TRY(get_name(from, "ending", kEndingNames));
  outcome.code = PD_TRY(get_number<int>(from, "code"));
  outcome.reason = PD_TRY(get_bytes(from, "reason"));
  outcome.core_dumped = PD_TRY(get_flag(from, "core_dumped"));
  object usage = PD_TRY(get_object(from, "usage"));
  outcome.usage = PD_TRY_CTX("in 'usage'", read_usage(usage));
  outcome.denials = PD_TRY(read_list<Denial>(from, "denials", read_denial));
  outcome.denials_dropped = PD_TRY(get_number<uint64_t>(from, "denials_dropped"));
  return outcome;
}

Result<Decision> read_decision(const object& from) {
  Decision decision;
  decision.level = PD_TRY(get_name(from, "level", kLevelNames));
  decision.trust = PD_TRY(get_name(from, "trust", kTrustNames));
  const boost::json::value* accepted = from.if_contains("accepted_by");
  if (accepted != nullptr && !accepted->is_null()) {
    decision.accepted_by = PD_TRY(get_bytes(from, "accepted_by"));
  }
  decision.root_template = PD_TRY(get_bytes(from, "root_template"));
  decision.controls = PD_TRY(read_list<Control>(from, "controls", read_control));
  decision.hidden = PD_TRY(get_bytes_list(from, "hidden"));
  decision.grants = PD_TRY(get_bytes_list(from, "grants"));
  return decision;
}

}  // namespace

Result<Outcome> decode_outcome(std::string_view text) {
  object from = PD_TRY_CTX("reading a stored outcome", parse_object(text));
  return read_outcome(from).with_context("reading a stored outcome");
}

Result<Decision> decode_decision(std::string_view text) {
  object from = PD_TRY_CTX("reading a stored decision", parse_object(text));
  return read_decision(from).with_context("reading a stored decision");
}

}  // namespace paddock::model
