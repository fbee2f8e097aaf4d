#include "view/catalog.h"

#include <fmt/core.h>

#include <boost/json.hpp>

#include "base/strings.h"
#include "model/json.h"

namespace paddock::view {
namespace {

namespace json = boost::json;
using model::HostPath;
using store::Row;
using store::Value;

constexpr std::string_view kViewColumns = "id, state, created_ms, trees, rules, bytes";

std::string encode(const ViewTrees& trees) {
  std::vector<std::string> hosts;
  for (const HostPath& host : trees.hosts) hosts.push_back(host.str());
  json::object object;
  model::put_bytes(object, "hosts", hosts);
  model::put_bytes(object, "git_dir", trees.git_dir.str());
  model::put_bytes(object, "common_dir", trees.common_dir.str());
  return model::json_text(object);
}

std::string encode(const KeptRules& rules) {
  json::object object;
  model::put_bytes(object, "hide", rules.hide);
  model::put_bytes(object, "show", rules.show);
  model::put_bytes(object, "host_exec", rules.host_exec);
  return model::json_text(object);
}

std::string encode_argv(const std::vector<std::string>& argv) {
  json::object object;
  model::put_bytes(object, "argv", argv);
  return model::json_text(object);
}

Result<json::object> parse_object(std::string_view text) {
  json::value value = PD_TRY(model::parse_json(text));
  if (!value.is_object()) return Error(Code::data_corrupt, "not a JSON object");
  return value.get_object();
}

Result<ViewTrees> decode_trees(std::string_view text) {
  json::object object = PD_TRY(parse_object(text));
  ViewTrees trees;
  for (std::string& host : PD_TRY(model::get_bytes_list(object, "hosts"))) {
    trees.hosts.emplace_back(std::move(host));
  }
  if (trees.hosts.empty() || trees.hosts.size() > kMaxTrees) {
    return Error(Code::data_corrupt, fmt::format("a view of {} trees", trees.hosts.size()));
  }
  trees.git_dir = HostPath(PD_TRY(model::get_bytes(object, "git_dir")));
  trees.common_dir = HostPath(PD_TRY(model::get_bytes(object, "common_dir")));
  return trees;
}

Result<KeptRules> decode_rules(std::string_view text) {
  json::object object = PD_TRY(parse_object(text));
  KeptRules rules;
  rules.hide = PD_TRY(model::get_bytes_list(object, "hide"));
  rules.show = PD_TRY(model::get_bytes_list(object, "show"));
  rules.host_exec = PD_TRY(model::get_bytes_list(object, "host_exec"));
  return rules;
}

Error unknown_state(const std::string& id) {
  return Error(Code::data_corrupt, fmt::format("unknown state of view {}", printable(id)));
}

Result<ViewRecord> decode_view(const Row& row) {
  ViewRecord view;
  view.id = PD_TRY(model::ViewId::parse(row.text(0)));
  auto state = value_of(kStoredStateNames, row.text(1));
  if (!state) return unknown_state(row.text(0));
  view.state = *state;
  view.created_ms = row.integer(2);
  view.trees = PD_TRY(decode_trees(row.text(3)));
  view.rules = PD_TRY(decode_rules(row.text(4)));
  view.bytes = static_cast<uint64_t>(row.integer(5));
  return view;
}

Result<StepRecord> decode_step(const Row& row) {
  StepRecord record;
  record.step.number = static_cast<uint32_t>(row.integer(0));
  json::object argv = PD_TRY(parse_object(row.text(1)));
  record.step.argv = PD_TRY(model::get_bytes_list(argv, "argv"));
  record.step.started_ms = row.integer(2);
  record.step.ended_ms = row.integer(3);
  record.step.undone = row.integer(4) != 0;
  record.step.decision_json = row.text(5);
  record.step.outcome_json = row.text(6);
  record.sealed = row.integer(7) != 0;
  record.layers = static_cast<uint64_t>(row.integer(8));
  record.opened_ns = row.integer(9);
  record.step.network_json = row.text(10);
  return record;
}

Value number(bool flag) {
  return static_cast<int64_t>(flag);
}

}  // namespace

Result<std::vector<ViewRecord>> Catalog::views() {
  std::vector<ViewRecord> views;
  auto rows = PD_TRY(database_.query(
      fmt::format("SELECT {} FROM view ORDER BY created_ms DESC, rowid DESC", kViewColumns)));
  for (const Row& row : rows)
    views.push_back(PD_TRY_CTX("reading the catalogue", decode_view(row)));
  return views;
}

Result<std::map<std::string, StoredState>> Catalog::states() {
  std::map<std::string, StoredState> states;
  for (const Row& row : PD_TRY(database_.query("SELECT id, state FROM view"))) {
    auto state = value_of(kStoredStateNames, row.text(1));
    if (!state) return unknown_state(row.text(0));
    states.emplace(row.text(0), *state);
  }
  return states;
}

Result<std::vector<model::ViewId>> Catalog::half_undone() {
  std::vector<model::ViewId> ids;
  auto rows =
      PD_TRY(database_.query("SELECT DISTINCT view FROM step WHERE undone = 1 AND layers <> 0"));
  for (const Row& row : rows) ids.push_back(PD_TRY(model::ViewId::parse(row.text(0))));
  return ids;
}

Result<std::optional<ViewRecord>> Catalog::find(const model::ViewId& id) {
  auto rows = PD_TRY(
      database_.query(fmt::format("SELECT {} FROM view WHERE id = ?", kViewColumns), {id.str()}));
  if (rows.empty()) return std::optional<ViewRecord>();
  return std::optional(PD_TRY_CTX("reading the catalogue", decode_view(rows[0])));
}

Status Catalog::insert(const ViewRecord& view) {
  return database_.execute(
      "INSERT INTO view (id, workspace, state, created_ms, trees, rules, bytes) "
      "VALUES (?, ?, ?, ?, ?, ?, ?)",
      {view.id.str(), view.workspace().str(), std::string(name_of(kStoredStateNames, view.state)),
       view.created_ms, encode(view.trees), encode(view.rules), static_cast<int64_t>(view.bytes)});
}

Status Catalog::set_state(const model::ViewId& id, StoredState state) {
  return database_.execute("UPDATE view SET state = ? WHERE id = ?",
                           {std::string(name_of(kStoredStateNames, state)), id.str()});
}

Status Catalog::set_bytes(const model::ViewId& id, uint64_t bytes) {
  return database_.execute("UPDATE view SET bytes = ? WHERE id = ?",
                           {static_cast<int64_t>(bytes), id.str()});
}

Status Catalog::remove(const model::ViewId& id) {
  return database_.execute("DELETE FROM view WHERE id = ?", {id.str()});
}

Result<std::vector<StepRecord>> Catalog::steps(const model::ViewId& id) {
  auto rows =
      PD_TRY(database_.query("SELECT number, argv, started_ms, ended_ms, undone, decision, "
                             "outcome, sealed, layers, opened_ns, network FROM step "
                             "WHERE view = ? ORDER BY number",
                             {id.str()}));
  std::vector<StepRecord> steps;
  for (const Row& row : rows)
    steps.push_back(PD_TRY_CTX("reading the catalogue", decode_step(row)));
  return steps;
}

Status Catalog::put_step(const model::ViewId& id, const StepRecord& record) {
  const Step& step = record.step;
  return database_.execute(
      "INSERT OR REPLACE INTO step (view, number, argv, started_ms, ended_ms, undone, decision, "
      "outcome, sealed, layers, opened_ns, network) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {id.str(), static_cast<int64_t>(step.number), encode_argv(step.argv), step.started_ms,
       step.ended_ms, number(step.undone), step.decision_json, step.outcome_json,
       number(record.sealed), static_cast<int64_t>(record.layers), record.opened_ns,
       step.network_json});
}

Status Catalog::remove_step(const model::ViewId& id, uint32_t number) {
  return database_.execute("DELETE FROM step WHERE view = ? AND number = ?",
                           {id.str(), static_cast<int64_t>(number)});
}

Status Catalog::durable_transaction(const std::function<Status()>& body) {
  PD_TRY(database_.execute("PRAGMA synchronous=FULL"));
  Status done = database_.transaction(body);
  Status relaxed = database_.execute("PRAGMA synchronous=NORMAL");
  return done.ok() ? std::move(relaxed) : std::move(done);
}

}  // namespace paddock::view
