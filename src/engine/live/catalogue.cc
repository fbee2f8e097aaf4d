#include "engine/live/catalogue.h"

#include <boost/json.hpp>

#include "model/json.h"
#include "sys/clock.h"

namespace paddock::engine {
namespace {

constexpr int64_t kKeepMs = 7ll * 86'400'000;

std::string encode_metadata(const std::map<std::string, std::string>& metadata) {
  boost::json::object object;
  for (const auto& [key, value] : metadata) object[key] = value;
  return model::json_text(object);
}

Result<std::map<std::string, std::string>> decode_metadata(const std::string& text) {
  std::map<std::string, std::string> metadata;
  const boost::json::value value = PD_TRY(model::parse_json(text));
  if (!value.is_object()) return Error(Code::data_corrupt, "metadata that is no object");
  for (const auto& [key, field] : value.get_object()) {
    if (!field.is_string()) return Error(Code::data_corrupt, "metadata that is no text");
    metadata.emplace(key, std::string(field.get_string()));
  }
  return metadata;
}

std::string name_of_state(const LiveInfo& info) {
  return std::string(name_of(kSandboxStateNames, info.state));
}

}  // namespace

Status Catalogue::forget_old() {
  const int64_t now = sys::wall_clock_ms();
  return database_.execute("DELETE FROM live_sandbox WHERE state = 'gone' AND ended_ms < ?",
                           {now - kKeepMs});
}

Status Catalogue::add(const LiveInfo& info) {
  return database_.execute(
      "INSERT OR REPLACE INTO live_sandbox (id, template, state, created_ms, deadline_ms, "
      "metadata, owner) "
      "VALUES (?, ?, ?, ?, ?, ?, ?)",
      {info.id.str(), info.template_name, name_of_state(info), info.created_ms, info.deadline_ms,
       encode_metadata(info.metadata), info.owner.key.str()});
}

Status Catalogue::set_state(const LiveInfo& info) {
  const int64_t ended_ms = info.state == SandboxState::gone ? sys::wall_clock_ms() : 0;
  return database_.execute(
      "UPDATE live_sandbox SET state = ?, reason = ?, ended_ms = ?, kept = ? WHERE id = ?",
      {name_of_state(info), info.reason, ended_ms, std::string(name_of(kKeepNames, info.kept)),
       info.id.str()});
}

Status Catalogue::set_deadline(const LiveInfo& info) {
  return database_.execute("UPDATE live_sandbox SET deadline_ms = ? WHERE id = ?",
                           {info.deadline_ms, info.id.str()});
}

Status Catalogue::set_layer(const model::SandboxId& id, const std::string& layer) {
  return database_.execute("UPDATE live_sandbox SET layer = ? WHERE id = ?", {layer, id.str()});
}

Status Catalogue::set_view(const model::SandboxId& id, const model::ViewId& view) {
  return database_.execute("UPDATE live_sandbox SET view = ? WHERE id = ?", {view.str(), id.str()});
}

Result<std::vector<LiveInfo>> Catalogue::list() {
  std::vector<LiveInfo> out;
  for (const store::Row& row : PD_TRY(database_.query(
           "SELECT id, template, state, reason, created_ms, deadline_ms, metadata, "
           "owner, layer, kept, view FROM live_sandbox ORDER BY created_ms DESC, id"))) {
    LiveInfo info;
    info.id = PD_TRY(model::SandboxId::parse(row.text(0)));
    info.template_name = row.text(1);
    info.state = value_of(kSandboxStateNames, row.text(2)).value_or(SandboxState::gone);
    info.reason = row.text(3);
    info.created_ms = row.integer(4);
    info.deadline_ms = row.integer(5);
    info.metadata = PD_TRY(decode_metadata(row.text(6)));
    if (!row.text(7).empty()) info.owner.key = PD_TRY(model::KeyId::parse(row.text(7)));
    info.layer = row.text(8);
    info.kept = value_of(kKeepNames, row.text(9)).value_or(Keep::memory);
    if (!row.text(10).empty()) {
      info.view = PD_TRY(model::ViewId::parse(row.text(10)));
      info.owner.reach = model::Owner::Reach::socket;
    }
    out.push_back(std::move(info));
  }
  return out;
}

}  // namespace paddock::engine
