#include "api/e2b/templates_http.h"

#include <algorithm>
#include <utility>

#include "api/e2b/control_snapshots.h"
#include "api/e2b/json.h"
#include "api/e2b/template_json.h"
#include "api/e2b/upload_http.h"
#include "api/templates.h"
#include "base/strings.h"
#include "sys/clock.h"

namespace paddock::api::e2b {
namespace {

using boost::json::array;
using boost::json::object;
using engine::BuildTable;
using engine::BuiltTemplate;
using engine::TemplateBuild;

constexpr size_t kLinesAtOnce = 500;

Error no_template(const std::string& named) {
  return Error(Code::not_found, "template '" + printable(named.substr(0, 128)) + "' not found");
}

template <typename F>
auto on_table(const ControlRequest& request, F use) {
  return request.options.builder.sandboxes().on_books(request.task, [&](store::Database& database) {
    BuildTable table(database);
    return use(table);
  });
}

// By id or name, of those that the caller may see.
Result<BuiltTemplate> template_of(const ControlRequest& request, const std::string& named) {
  auto found = PD_TRY(
      on_table(request, [&](BuildTable& table) { return table.find(named, request.caller()); }));
  if (found) return std::move(*found);
  return no_template(named);
}

// Path: templates/<template>/builds/<build>…
Result<TemplateBuild> build_of(const ControlRequest& request) {
  const BuiltTemplate made = PD_TRY(template_of(request, request.path[1]));
  auto build = PD_TRY(
      on_table(request, [&](BuildTable& table) { return table.find_build(request.path[3]); }));
  if (build && build->template_id == made.id) return std::move(*build);
  return Error(Code::not_found, "template '" + made.name + "' has no build " +
                                    printable(request.path[3].substr(0, 64)));
}

const model::Limits& limits_of(const ControlRequest& request) {
  return request.options.builder.sandboxes().limits();
}

Status reply(const ControlRequest& request, int good, const Result<object>& done) {
  return done.ok() ? answer(request, good, *done) : fail(request, done.error());
}

// ---- asked for

Result<object> ask_for_build(const ControlRequest& request) {
  const object body = PD_TRY(read_body(request));
  WantedTemplate wanted = PD_TRY(wanted_template(body, limits_of(request)));
  const TemplateName named = PD_TRY(template_name(wanted.name));
  PD_TRY(
      check_name_is_free({request.task, request.options.sandboxes, request.caller()}, named.name));
  std::vector<std::string> tags;
  if (!named.tag.empty()) tags.push_back(named.tag);
  for (std::string& tag : wanted.tags) {
    PD_TRY(check_tag(tag));
    if (std::ranges::find(tags, tag) == tags.end()) tags.push_back(std::move(tag));
  }
  if (tags.empty()) tags.emplace_back(engine::kDefaultTag);
  const TemplateBuild build = PD_TRY(request.options.builder.request(
      request.task, {request.caller().owner, named.name, tags, std::move(wanted.remark)}));
  object out;
  out["templateID"] = build.template_id;
  out["buildID"] = build.id;
  out["names"] = array{boost::json::value(named.name)};
  out["aliases"] = array{boost::json::value(named.name)};
  out["tags"] = array(tags.begin(), tags.end());
  out["public"] = false;
  return out;
}

Status begin_build(const ControlRequest& request) {
  const TemplateBuild build = PD_TRY(build_of(request));
  WantedBuild wanted = PD_TRY(wanted_build(PD_TRY(read_body(request))));
  engine::CreateRequest& base = wanted.plan.base;
  base.template_name = wanted.from_template;
  base.owner = request.caller().owner;
  base.quota = request.options.settings.quota_of(request.caller().label);
  PD_TRY(find_origin(request, base));
  const bool is_there =
      base.origin || engine::is_built_in(base.template_name) ||
      PD_TRY(request.options.sandboxes.find_directory(request.task, base.template_name));
  if (!is_there) return no_template(base.template_name);
  return request.options.builder.start(request.task, build, std::move(wanted.plan));
}

// ---- told

Result<object> tell_status(const ControlRequest& request) {
  const Query query = query_of(request.exchange.request());
  const auto given = query.find("logsOffset");
  const auto offset = given == query.end() || given->second.empty() ? std::optional<uint64_t>(0)
                                                                    : parse_u64(given->second);
  if (!offset) return Error(Code::invalid_argument, "'logsOffset' must be a number");
  engine::BuildReport report =
      request.options.builder.report(PD_TRY(build_of(request)), static_cast<size_t>(*offset));
  if (report.lines.size() > kLinesAtOnce) report.lines.resize(kLinesAtOnce);
  return status_json(report);
}

Result<object> tell_logs(const ControlRequest& request) {
  const engine::BuildReport report = request.options.builder.report(PD_TRY(build_of(request)), 0);
  array lines;
  for (const engine::BuildLine& line : report.lines) lines.emplace_back(log_json(line));
  return object{{"logs", std::move(lines)}};
}

Result<ListedTemplate> listed_of(const ControlRequest& request, BuiltTemplate made) {
  auto builds =
      PD_TRY(on_table(request, [&](BuildTable& table) { return table.builds_of(made.id); }));
  return ListedTemplate{std::move(made), std::move(builds)};
}

Status list_built(const ControlRequest& request) {
  auto all = on_table(request, [](BuildTable& table) { return table.list(); });
  if (!all.ok()) return fail(request, all.error());
  array out;
  for (BuiltTemplate& made : *all) {
    if (!request.caller().may_see(made.owner)) continue;
    auto listed = listed_of(request, std::move(made));
    if (!listed.ok()) return fail(request, listed.error());
    out.emplace_back(listed_json(*listed, limits_of(request)));
  }
  return answer(request, 200, out);
}

Result<object> tell_template(const ControlRequest& request) {
  return detail_json(PD_TRY(listed_of(request, PD_TRY(template_of(request, request.path[1])))),
                     limits_of(request));
}

// Path: templates/aliases/<name>
Result<object> tell_alias(const ControlRequest& request) {
  const TemplateName named = PD_TRY(template_name(request.path[2]));
  engine::Sandboxes& sandboxes = request.options.sandboxes;
  if (engine::is_built_in(named.name) ||
      PD_TRY(sandboxes.find_directory(request.task, named.name))) {
    return object{{"templateID", named.name}, {"public", true}};
  }
  const BuiltTemplate made = PD_TRY(template_of(request, named.name));
  return object{{"templateID", made.id}, {"public", false}};
}

// ---- tags

Result<object> put_tags(const ControlRequest& request) {
  const object body = PD_TRY(read_body(request));
  const TemplateName target =
      PD_TRY(template_name(PD_TRY(text_field(body, "target")).value_or("")));
  const std::vector<std::string> tags = PD_TRY(texts_field(body, "tags"));
  if (tags.empty()) return Error(Code::invalid_argument, "'tags' is missing");
  for (const std::string& tag : tags) PD_TRY(check_tag(tag));
  const BuiltTemplate made = PD_TRY(template_of(request, target.name));
  const std::string from = target.tag.empty() ? engine::kDefaultTag : target.tag;
  const std::string build = PD_TRY(on_table(request, [&](BuildTable& table) -> Result<std::string> {
    for (const engine::TemplateTag& known : PD_TRY(table.tags_of(made.id))) {
      if (known.tag != from) continue;
      for (const std::string& tag : tags) {
        PD_TRY(table.set_tag(made.id, {tag, known.build, sys::wall_clock_ms()}));
      }
      return known.build;
    }
    return Error(Code::not_found, "template '" + made.name + "' has no tag '" + from + "'");
  }));
  return object{{"buildID", build}, {"tags", array(tags.begin(), tags.end())}};
}

Status remove_tags(const ControlRequest& request) {
  const object body = PD_TRY(read_body(request));
  const TemplateName named = PD_TRY(template_name(PD_TRY(text_field(body, "name")).value_or("")));
  const std::vector<std::string> tags = PD_TRY(texts_field(body, "tags"));
  const BuiltTemplate made = PD_TRY(template_of(request, named.name));
  return on_table(request, [&](BuildTable& table) -> Status {
    for (const std::string& tag : tags) PD_TRY(table.remove_tag(made.id, tag));
    return {};
  });
}

Status tell_tags(const ControlRequest& request) {
  auto made = template_of(request, request.path[1]);
  if (!made.ok()) return fail(request, made.error());
  auto tags = on_table(request, [&](BuildTable& table) { return table.tags_of(made->id); });
  return tags.ok() ? answer(request, 200, tags_json(*tags)) : fail(request, tags.error());
}

// ---- files of steps

// Path: templates/<template>/files/<hash>
Result<object> tell_upload(const ControlRequest& request) {
  const BuiltTemplate made = PD_TRY(template_of(request, request.path[1]));
  const engine::UploadName name{made.owner, request.path[3]};
  if (!engine::is_files_hash(name.hash)) {
    return Error(Code::invalid_argument, "the hash of a step's files is 64 digits of SHA-256");
  }
  object out;
  out["present"] = request.options.builder.uploads().has(request.task, name);
  out["url"] = upload_url(request, name);
  return out;
}

// ---- which

Status end_with(const ControlRequest& request, const Status& done, int good) {
  if (!done.ok()) return fail(request, Status(done).error());
  return request.exchange.respond(request.task, {good, {}, ""});
}

Status serve_whole(const ControlRequest& request) {
  if (request.method() == "GET") return list_built(request);
  if (request.method() != "POST") return fail(request, 405, "/templates knows GET and POST");
  return reply(request, 202, ask_for_build(request));
}

Status serve_one(const ControlRequest& request) {
  const bool is_tags = request.path[1] == "tags";
  const std::string& method = request.method();
  if (is_tags && method == "POST") return reply(request, 201, put_tags(request));
  if (is_tags && method == "DELETE") return end_with(request, remove_tags(request), 204);
  if (method == "DELETE") return delete_template(request);
  if (method == "GET") return reply(request, 200, tell_template(request));
  return fail(request, 501, "a template cannot be changed yet, nor made public: it is its key's");
}

Status serve_part(const ControlRequest& request) {
  const auto& path = request.path;
  const bool reads = request.method() == "GET";
  if (reads && path.size() == 3 && path[1] == "aliases") {
    return reply(request, 200, tell_alias(request));
  }
  if (reads && path.size() == 3 && path[2] == "tags") return tell_tags(request);
  if (reads && path.size() == 4 && path[2] == "files") {
    return reply(request, 201, tell_upload(request));
  }
  if (path.size() < 4 || path[2] != "builds") return fail(request, 404, "no such endpoint");
  if (path.size() == 4 && request.method() == "POST") {
    return end_with(request, begin_build(request), 202);
  }
  if (reads && path.size() == 5 && path[4] == "status") {
    return reply(request, 200, tell_status(request));
  }
  if (reads && path.size() == 5 && path[4] == "logs")
    return reply(request, 200, tell_logs(request));
  return fail(request, 404, "no such endpoint");
}

}  // namespace

Status serve_templates(const ControlRequest& request) {
  if (request.path.size() == 1) return serve_whole(request);
  if (request.path.size() == 2) return serve_one(request);
  return serve_part(request);
}

}  // namespace paddock::api::e2b
