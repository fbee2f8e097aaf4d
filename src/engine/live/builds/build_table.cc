#include "engine/live/builds/build_table.h"

#include <utility>

namespace paddock::engine {
namespace {

constexpr const char* kTemplateFields = "SELECT id, name, owner, created_ms FROM built_template ";
constexpr const char* kBuildFields =
    "SELECT id, template, state, reason, step, base_template, layer, created_ms, finished_ms "
    "FROM template_build ";
// Of a build that was asked for and not begun.
constexpr int64_t kBeginsWithinMs = 3'600'000;
constexpr int64_t kKeptUntagged = 10;

Result<BuiltTemplate> template_from(const store::Row& row) {
  BuiltTemplate found{row.text(0), row.text(1), {}, row.integer(3)};
  if (!row.text(2).empty()) found.owner.key = PD_TRY(model::KeyId::parse(row.text(2)));
  return found;
}

TemplateBuild build_from(const store::Row& row) {
  TemplateBuild build;
  build.id = row.text(0);
  build.template_id = row.text(1);
  build.state = value_of(kBuildStateNames, row.text(2)).value_or(BuildState::error);
  build.reason = row.text(3);
  build.step = row.text(4);
  build.base_template = row.text(5);
  build.layer = row.text(6);
  build.created_ms = row.integer(7);
  build.finished_ms = row.integer(8);
  return build;
}

std::string state_text(const TemplateBuild& build) {
  return std::string(name_of(kBuildStateNames, build.state));
}

}  // namespace

// ---- templates

Result<BuiltTemplate> BuildTable::ensure(const BuiltTemplate& wanted) {
  const std::string owner = wanted.owner.key.str();
  PD_TRY(database_.execute(
      "INSERT OR IGNORE INTO built_template (id, name, owner, created_ms) VALUES (?, ?, ?, ?)",
      {wanted.id, wanted.name, owner, wanted.created_ms}));
  const auto rows = PD_TRY(database_.query(
      std::string(kTemplateFields) + "WHERE name = ? AND owner = ?", {wanted.name, owner}));
  if (rows.empty()) return Error(Code::internal, "a template that is not on record");
  return template_from(rows.front());
}

Result<std::vector<BuiltTemplate>> BuildTable::list() {
  std::vector<BuiltTemplate> found;
  for (const store::Row& row :
       PD_TRY(database_.query(std::string(kTemplateFields) + "ORDER BY created_ms DESC, id"))) {
    found.push_back(PD_TRY(template_from(row)));
  }
  return found;
}

Result<std::optional<BuiltTemplate>> BuildTable::find(const std::string& id_or_name,
                                                      const model::Caller& caller) {
  std::optional<BuiltTemplate> named;
  for (BuiltTemplate& found : PD_TRY(list())) {
    if (!caller.may_see(found.owner)) continue;
    if (found.id == id_or_name) return std::optional(std::move(found));
    if (found.name != id_or_name) continue;
    // Whoever sees all means his own first.
    if (!named || found.owner == caller.owner) named = std::move(found);
  }
  return named;
}

Status BuildTable::remove(const std::string& template_id) {
  return database_.transaction([&]() -> Status {
    PD_TRY(database_.execute("DELETE FROM template_tag WHERE template = ?", {template_id}));
    PD_TRY(database_.execute("DELETE FROM template_build WHERE template = ?", {template_id}));
    return database_.execute("DELETE FROM built_template WHERE id = ?", {template_id});
  });
}

// ---- builds

Status BuildTable::add(const TemplateBuild& build) {
  return database_.execute(
      "INSERT INTO template_build (id, template, state, created_ms) VALUES (?, ?, ?, ?)",
      {build.id, build.template_id, state_text(build), build.created_ms});
}

Status BuildTable::set(const TemplateBuild& build) {
  return database_.execute(
      "UPDATE template_build SET state = ?, reason = ?, step = ?, base_template = ?, layer = ?, "
      "finished_ms = ? WHERE id = ?",
      {state_text(build), build.reason, build.step, build.base_template, build.layer,
       build.finished_ms, build.id});
}

Result<std::optional<TemplateBuild>> BuildTable::find_build(const std::string& id) {
  const auto rows = PD_TRY(database_.query(std::string(kBuildFields) + "WHERE id = ?", {id}));
  if (rows.empty()) return std::optional<TemplateBuild>();
  return std::optional(build_from(rows.front()));
}

Result<std::vector<TemplateBuild>> BuildTable::builds_of(const std::string& template_id) {
  std::vector<TemplateBuild> found;
  for (const store::Row& row : PD_TRY(database_.query(
           std::string(kBuildFields) + "WHERE template = ? ORDER BY created_ms DESC, id",
           {template_id}))) {
    found.push_back(build_from(row));
  }
  return found;
}

Result<std::optional<BuiltLayer>> BuildTable::find_layer(const std::string& template_id,
                                                         const std::string& tag) {
  const auto rows = PD_TRY(database_.query(
      "SELECT b.base_template, b.layer FROM template_build b WHERE b.template = ? AND "
      "b.state = 'ready' AND (b.id = ? OR b.id IN (SELECT t.build FROM template_tag t WHERE "
      "t.template = b.template AND t.tag = ?))",
      {template_id, tag, tag}));
  if (rows.empty()) return std::optional<BuiltLayer>();
  return std::optional(BuiltLayer{rows.front().text(0), rows.front().text(1)});
}

Status BuildTable::prune(const std::string& template_id, int64_t now_ms) {
  PD_TRY(database_.execute(
      "DELETE FROM template_build WHERE template = ? AND state = 'waiting' AND created_ms < ?",
      {template_id, now_ms - kBeginsWithinMs}));
  return database_.execute(
      "DELETE FROM template_build WHERE template = ? AND state IN ('ready', 'error') AND id NOT IN "
      "(SELECT build FROM template_tag WHERE template = ?) AND id NOT IN (SELECT id FROM "
      "template_build WHERE template = ? ORDER BY created_ms DESC, id LIMIT ?)",
      {template_id, template_id, template_id, kKeptUntagged});
}

Status BuildTable::fail_unfinished(const std::string& reason, int64_t now_ms) {
  return database_.execute(
      "UPDATE template_build SET state = 'error', reason = ?, finished_ms = ? WHERE state IN "
      "('waiting', 'building')",
      {reason, now_ms});
}

// ---- tags

Status BuildTable::set_tag(const std::string& template_id, const TemplateTag& tag) {
  return database_.execute(
      "INSERT OR REPLACE INTO template_tag (template, tag, build, created_ms) VALUES (?, ?, ?, ?)",
      {template_id, tag.tag, tag.build, tag.created_ms});
}

Status BuildTable::remove_tag(const std::string& template_id, const std::string& tag) {
  return database_.execute("DELETE FROM template_tag WHERE template = ? AND tag = ?",
                           {template_id, tag});
}

Result<std::vector<TemplateTag>> BuildTable::tags_of(const std::string& template_id) {
  std::vector<TemplateTag> found;
  for (const store::Row& row :
       PD_TRY(database_.query("SELECT tag, build, created_ms FROM template_tag WHERE template = ? "
                              "ORDER BY created_ms DESC, tag",
                              {template_id}))) {
    found.push_back({row.text(0), row.text(1), row.integer(2)});
  }
  return found;
}

// ---- steps that are done

Result<std::optional<DoneStep>> BuildTable::find_step(const std::string& key, int64_t now_ms) {
  const auto rows =
      PD_TRY(database_.query("SELECT layer, settings FROM build_step WHERE key = ?", {key}));
  if (rows.empty()) return std::optional<DoneStep>();
  PD_TRY(database_.execute("UPDATE build_step SET used_ms = ? WHERE key = ?", {now_ms, key}));
  return std::optional(
      DoneStep{rows.front().text(0), PD_TRY(decode_template_settings(rows.front().text(1)))});
}

Status BuildTable::put_step(const std::string& key, const std::string& base_template,
                            const DoneStep& done, int64_t now_ms) {
  return database_.execute(
      "INSERT OR REPLACE INTO build_step (key, base_template, layer, settings, used_ms) VALUES "
      "(?, ?, ?, ?, ?)",
      {key, base_template, done.layer, encode(done.settings), now_ms});
}

Status BuildTable::forget_steps_before(int64_t ms) {
  return database_.execute("DELETE FROM build_step WHERE used_ms < ?", {ms});
}

Status BuildTable::forget_steps_of(const std::string& base_template) {
  return database_.execute("DELETE FROM build_step WHERE base_template = ?", {base_template});
}

Result<std::vector<std::string>> BuildTable::names_over(const std::string& base_template) {
  std::vector<std::string> names;
  for (const store::Row& row :
       PD_TRY(database_.query("SELECT DISTINCT t.name FROM built_template t JOIN template_build b "
                              "ON b.template = t.id WHERE b.base_template = ?",
                              {base_template}))) {
    names.push_back(row.text(0));
  }
  return names;
}

}  // namespace paddock::engine
