#include "model/network_record.h"

#include <fmt/core.h>

#include <boost/json.hpp>

#include "model/json.h"

namespace paddock::model {
namespace {

using boost::json::object;

Error corrupt(std::string_view field) {
  return Error(Code::data_corrupt, fmt::format("network record: field '{}'", field));
}

template <typename Number>
Status take_number(const object& from, std::string_view field, Number& into) {
  const boost::json::value* found = from.if_contains(field);
  if (found == nullptr) return {};
  boost::json::error_code error;
  into = found->to_number<Number>(error);
  return error ? Status(corrupt(field)) : Status();
}

template <typename E, size_t N>
Status take_name(const object& from, std::string_view field, const EnumNames<E, N>& names,
                 E& into) {
  const boost::json::value* found = from.if_contains(field);
  const boost::json::string* text = found == nullptr ? nullptr : found->if_string();
  const auto value = text == nullptr ? std::nullopt : value_of(names, std::string_view(*text));
  if (!value) return corrupt(field);
  into = *value;
  return {};
}

Status take_text(const object& from, std::string_view field, std::string& into) {
  into = PD_TRY(get_bytes(from, field));
  return {};
}

Result<EgressEvent> read_event(const object& from) {
  EgressEvent event;
  PD_TRY(take_name(from, "kind", kEgressEventKindNames, event.kind));
  PD_TRY(take_name(from, "verdict", kEgressVerdictNames, event.verdict));
  PD_TRY(take_text(from, "host", event.host));
  PD_TRY(take_number(from, "port", event.port));
  PD_TRY(take_text(from, "protocol", event.protocol));
  PD_TRY(take_text(from, "rule", event.rule));
  PD_TRY(take_text(from, "reason", event.reason));
  PD_TRY(take_text(from, "remedy", event.remedy));
  PD_TRY(take_text(from, "address", event.address));
  PD_TRY(take_text(from, "method", event.method));
  PD_TRY(take_text(from, "path", event.path));
  PD_TRY(take_number(from, "status", event.status));
  PD_TRY(take_number(from, "request_bytes", event.request_bytes));
  PD_TRY(take_number(from, "response_bytes", event.response_bytes));
  PD_TRY(take_number(from, "duration_us", event.duration_us));
  event.credentials = PD_TRY(get_bytes_list(from, "credentials"));
  PD_TRY(take_number(from, "pid", event.pid));
  PD_TRY(take_text(from, "process", event.process));
  PD_TRY(take_number(from, "time_ms", event.time_ms));
  return event;
}

}  // namespace

object to_json(const EgressEvent& event) {
  object out;
  out["kind"] = name_of(kEgressEventKindNames, event.kind);
  out["verdict"] = name_of(kEgressVerdictNames, event.verdict);
  put_bytes(out, "host", event.host);
  out["port"] = event.port;
  put_bytes(out, "protocol", event.protocol);
  put_bytes(out, "rule", event.rule);
  put_bytes(out, "reason", event.reason);
  put_bytes(out, "remedy", event.remedy);
  put_bytes(out, "address", event.address);
  put_bytes(out, "method", event.method);
  put_bytes(out, "path", event.path);
  out["status"] = event.status;
  out["request_bytes"] = event.request_bytes;
  out["response_bytes"] = event.response_bytes;
  out["duration_us"] = event.duration_us;
  put_bytes(out, "credentials", event.credentials);
  out["pid"] = event.pid;
  put_bytes(out, "process", event.process);
  out["time_ms"] = event.time_ms;
  return out;
}

object to_json(const NetworkRecord& record) {
  object out;
  boost::json::array& events = out["events"].emplace_array();
  for (const EgressEvent& event : record.events) events.emplace_back(to_json(event));
  out["dropped"] = record.dropped;
  return out;
}

std::string encode(const NetworkRecord& record) {
  return record.empty() ? "" : json_text(to_json(record));
}

Result<NetworkRecord> decode_network_record(std::string_view text) {
  NetworkRecord record;
  if (text.empty()) return record;
  const boost::json::value value = PD_TRY(parse_json(text));
  const object* from = value.if_object();
  const boost::json::value* events = from == nullptr ? nullptr : from->if_contains("events");
  if (events == nullptr || !events->is_array()) return corrupt("events");
  for (const boost::json::value& entry : events->get_array()) {
    if (!entry.is_object()) return corrupt("events");
    record.events.push_back(PD_TRY(read_event(entry.get_object())));
  }
  PD_TRY(take_number(*from, "dropped", record.dropped));
  return record;
}

}  // namespace paddock::model
