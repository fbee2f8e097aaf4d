#include "egress/pushes/held_push.h"

#include <fmt/core.h>

#include <boost/json.hpp>

#include "model/json.h"

namespace paddock::egress {
namespace {

using boost::json::object;

Error corrupt_field(std::string_view field) {
  return Error(Code::data_corrupt, fmt::format("field '{}' is not what it must be", field));
}

template <typename Number>
Result<Number> get_number(const object& from, std::string_view field) {
  const boost::json::value* found = from.if_contains(field);
  if (found == nullptr) return corrupt_field(field);
  boost::json::error_code error;
  const auto number = found->to_number<Number>(error);
  if (error) return corrupt_field(field);
  return number;
}

template <typename E, size_t N>
Result<E> get_name(const object& from, std::string_view field, const EnumNames<E, N>& names) {
  const std::string text = PD_TRY(model::get_bytes(from, field));
  const auto value = value_of(names, text);
  if (!value) return corrupt_field(field);
  return *value;
}

Result<git::RefChange> read_change(const boost::json::value& value) {
  if (!value.is_object()) return corrupt_field("changes");
  const object& from = value.get_object();
  return git::RefChange{.old_id = PD_TRY(model::get_bytes(from, "old")),
                        .new_id = PD_TRY(model::get_bytes(from, "new")),
                        .ref = PD_TRY(model::get_bytes(from, "ref"))};
}

boost::json::array to_json(const std::vector<PushRelease>& releases) {
  boost::json::array list;
  for (const PushRelease& release : releases) {
    object entry;
    entry["time_ms"] = release.time_ms;
    entry["uid"] = release.uid;
    entry["end"] = name_of(kReleaseEndNames, release.end);
    model::put_bytes(entry, "reason", release.reason);
    list.push_back(std::move(entry));
  }
  return list;
}

Result<PushRelease> read_release(const boost::json::value& value) {
  if (!value.is_object()) return corrupt_field("releases");
  const object& from = value.get_object();
  return PushRelease{.time_ms = PD_TRY(get_number<int64_t>(from, "time_ms")),
                     .uid = PD_TRY(get_number<uint32_t>(from, "uid")),
                     .end = PD_TRY(get_name(from, "end", kReleaseEndNames)),
                     .reason = PD_TRY(model::get_bytes(from, "reason"))};
}

// Records of earlier versions have none.
Result<std::vector<PushRelease>> read_releases(const object& from) {
  std::vector<PushRelease> out;
  const boost::json::value* releases = from.if_contains("releases");
  if (releases == nullptr) return out;
  if (!releases->is_array()) return corrupt_field("releases");
  for (const boost::json::value& release : releases->get_array()) {
    out.push_back(PD_TRY(read_release(release)));
  }
  return out;
}

}  // namespace

std::string HeldPush::url() const {
  const bool usual = port == (transport == GitTransport::https ? 443 : 22);
  return fmt::format("{}://{}{}{}{}", name_of(kGitTransportNames, transport), host,
                     usual ? "" : fmt::format(":{}", port), path.starts_with('/') ? "" : "/", path);
}

object to_json(const HeldPush& push) {
  object out;
  out["id"] = push.id.str();
  out["sandbox"] = push.sandbox.str();
  out["state"] = name_of(kPushStateNames, push.state);
  out["transport"] = name_of(kGitTransportNames, push.transport);
  out["host"] = push.host;
  out["port"] = push.port;
  model::put_bytes(out, "path", push.path);
  model::put_bytes(out, "repository", push.repository);
  out["url"] = push.url();
  out["rule"] = push.rule;
  model::put_bytes(out, "reason", push.reason);
  boost::json::array changes;
  for (const git::RefChange& change : push.changes) {
    object entry;
    model::put_bytes(entry, "ref", change.ref);
    entry["old"] = change.old_id;
    entry["new"] = change.new_id;
    changes.push_back(std::move(entry));
  }
  out["changes"] = std::move(changes);
  out["bytes"] = push.bytes;
  out["held_ms"] = push.held_ms;
  out["released_ms"] = push.released_ms;
  out["releases"] = to_json(push.releases);
  return out;
}

Result<HeldPush> parse_held_push(std::string_view text) {
  const boost::json::value value = PD_TRY(model::parse_json(text));
  if (!value.is_object()) return Error(Code::data_corrupt, "not a JSON object");
  const object& from = value.get_object();
  const auto bytes = [&](std::string_view field) { return model::get_bytes(from, field); };
  HeldPush push;
  const std::string id = PD_TRY(bytes("id"));
  push.id = PD_TRY(model::PushId::parse(id));
  const std::string sandbox = PD_TRY(bytes("sandbox"));
  push.sandbox = PD_TRY(model::SandboxId::parse(sandbox));
  push.state = PD_TRY(get_name(from, "state", kPushStateNames));
  push.transport = PD_TRY(get_name(from, "transport", kGitTransportNames));
  push.host = PD_TRY(bytes("host"));
  push.port = PD_TRY(get_number<uint16_t>(from, "port"));
  push.path = PD_TRY(bytes("path"));
  push.repository = PD_TRY(bytes("repository"));
  push.rule = PD_TRY(bytes("rule"));
  push.reason = PD_TRY(bytes("reason"));
  const boost::json::value* changes = from.if_contains("changes");
  if (changes == nullptr || !changes->is_array()) return corrupt_field("changes");
  for (const boost::json::value& change : changes->get_array()) {
    push.changes.push_back(PD_TRY(read_change(change)));
  }
  push.bytes = PD_TRY(get_number<uint64_t>(from, "bytes"));
  push.held_ms = PD_TRY(get_number<int64_t>(from, "held_ms"));
  push.released_ms = PD_TRY(get_number<int64_t>(from, "released_ms"));
  push.releases = PD_TRY(read_releases(from));
  return push;
}

}  // namespace paddock::egress
