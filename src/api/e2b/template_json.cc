#include "api/e2b/template_json.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "api/e2b/control_json.h"
#include "api/e2b/json.h"
#include "base/strings.h"

namespace paddock::api::e2b {
namespace {

using boost::json::array;
using boost::json::object;
using engine::BuildState;
using engine::BuildStep;

constexpr size_t kMaxSteps = 200;
constexpr size_t kMaxTags = 100;
constexpr uint64_t kMegabyte = 1u << 20;

Error images_come_later() {
  return Error(Code::unsupported,
               "building from an image: images come with the image layer, which is not built yet")
      .set_remedy(
          "Template().fromTemplate('base'), or a root directory that the server's keeper "
          "adds by `paddock template add`");
}

Result<BuildStep> step_of(const boost::json::value& value) {
  const object* fields = value.if_object();
  if (fields == nullptr) return Error(Code::invalid_argument, "a step is no object");
  const std::string type = PD_TRY(text_field(*fields, "type")).value_or("");
  const auto kind = value_of(engine::kStepKindNames, type);
  if (!kind) {
    return Error(Code::invalid_argument, "unknown kind of step '" + printable(type) + "'")
        .set_remedy("this server knows " + list_names(engine::kStepKindNames));
  }
  BuildStep step;
  step.kind = *kind;
  step.args = PD_TRY(texts_field(*fields, "args"));
  step.files_hash = PD_TRY(text_field(*fields, "filesHash")).value_or("");
  if (PD_TRY(flag_field(*fields, "force")).value_or(false)) step.cache = BuildStep::Cache::renew;
  PD_TRY(check_step(step));
  return step;
}

uint64_t cpus_of_template(const model::Limits& limits) {
  return std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(limits.cpus)));
}

array names_json(const engine::BuiltTemplate& made) {
  return {boost::json::value(made.name)};
}

}  // namespace

Result<std::vector<std::string>> texts_field(const object& body, std::string_view name) {
  std::vector<std::string> texts;
  const auto* value = body.if_contains(name);
  if (value == nullptr || value->is_null()) return texts;
  const array* list = value->if_array();
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    if (!(*list)[i].is_string()) list = nullptr;
    if (list != nullptr) texts.emplace_back((*list)[i].get_string());
  }
  if (list != nullptr) return texts;
  return Error(Code::invalid_argument, "'" + std::string(name) + "' must be a list of texts");
}

Result<WantedBuild> wanted_build(const object& body) {
  for (const char* field : {"fromImage", "fromImageRegistry"}) {
    const auto* value = body.if_contains(field);
    if (value != nullptr && !value->is_null()) return images_come_later();
  }
  WantedBuild wanted;
  wanted.from_template = PD_TRY(text_field(body, "fromTemplate")).value_or("");
  if (wanted.from_template.empty()) {
    return Error(Code::invalid_argument, "'fromTemplate' is missing");
  }
  wanted.plan.start_command = PD_TRY(text_field(body, "startCmd")).value_or("");
  wanted.plan.ready_command = PD_TRY(text_field(body, "readyCmd")).value_or("");
  if (PD_TRY(flag_field(body, "force")).value_or(false)) {
    wanted.plan.cache = BuildStep::Cache::renew;
  }
  const auto* steps = body.if_contains("steps");
  if (steps == nullptr || steps->is_null()) return wanted;
  const array* list = steps->if_array();
  if (list == nullptr) return Error(Code::invalid_argument, "'steps' must be a list");
  if (list->size() > kMaxSteps) {
    return Error(Code::invalid_argument, fmt::format("more than {} steps", kMaxSteps))
        .set_remedy("do several things in one, or build from a template that has the first ones");
  }
  for (size_t i = 0; i < list->size(); ++i) {
    wanted.plan.steps.push_back(PD_TRY_CTX(fmt::format("step {}", i + 1), step_of((*list)[i])));
  }
  return wanted;
}

Result<WantedTemplate> wanted_template(const object& body, const model::Limits& limits) {
  WantedTemplate wanted;
  wanted.name = PD_TRY(text_field(body, "name")).value_or("");
  if (wanted.name.empty()) wanted.name = PD_TRY(text_field(body, "alias")).value_or("");
  wanted.tags = PD_TRY(texts_field(body, "tags"));
  if (wanted.tags.size() > kMaxTags) return Error(Code::invalid_argument, "too many tags");
  const int64_t cpus = PD_TRY(number_field(body, "cpuCount")).value_or(0);
  const int64_t memory = PD_TRY(number_field(body, "memoryMB")).value_or(0);
  const int64_t disk = PD_TRY(number_field(body, "minFreeDiskMb")).value_or(0);
  auto differs = [](int64_t asked, uint64_t given) {
    return asked > 0 && given > 0 && static_cast<uint64_t>(asked) != given;
  };
  if (differs(cpus, limits.cpus > 0 ? cpus_of_template(limits) : 0) ||
      differs(memory, limits.memory_bytes / kMegabyte) ||
      (disk > 0 && static_cast<uint64_t>(disk) > limits.disk_bytes / kMegabyte)) {
    wanted.remark = fmt::format(
        "cpuCount, memoryMB and minFreeDiskMb are not the template's here: each sandbox has {} "
        "processors, {} of memory, {} of disk, by the server's policy",
        limits.cpus > 0 ? fmt::format("{:g}", limits.cpus) : "all",
        limits.memory_bytes > 0 ? format_bytes(limits.memory_bytes) : "all",
        format_bytes(limits.disk_bytes));
  }
  return wanted;
}

// ---- told

object log_json(const engine::BuildLine& line) {
  object out;
  out["timestamp"] = timestamp(line.wall_ms);
  out["level"] = name_of(engine::kBuildLevelNames, line.level);
  out["message"] = line.message;
  if (!line.step.empty()) out["step"] = line.step;
  return out;
}

object status_json(const engine::BuildReport& report) {
  const engine::TemplateBuild& build = report.build;
  object out;
  out["templateID"] = build.template_id;
  out["buildID"] = build.id;
  out["status"] = name_of(engine::kBuildStateNames, build.state);
  array entries, texts;
  for (const engine::BuildLine& line : report.lines) {
    entries.emplace_back(log_json(line));
    texts.emplace_back(line.message);
  }
  out["logEntries"] = std::move(entries);
  out["logs"] = std::move(texts);
  if (build.state != BuildState::error) return out;
  object reason;
  reason["message"] = build.reason;
  if (!build.step.empty()) reason["step"] = build.step;
  reason["logEntries"] = array();
  out["reason"] = std::move(reason);
  return out;
}

array tags_json(const std::vector<engine::TemplateTag>& tags) {
  array out;
  for (const engine::TemplateTag& tag : tags) {
    out.emplace_back(
        object{{"tag", tag.tag}, {"buildID", tag.build}, {"createdAt", timestamp(tag.created_ms)}});
  }
  return out;
}

object listed_json(const ListedTemplate& listed, const model::Limits& limits) {
  object out;
  out["templateID"] = listed.made.id;
  out["aliases"] = names_json(listed.made);
  out["names"] = names_json(listed.made);
  out["public"] = false;
  out["createdAt"] = timestamp(listed.made.created_ms);
  out["updatedAt"] = timestamp(listed.made.created_ms);
  out["createdBy"] = nullptr;
  out["lastSpawnedAt"] = nullptr;
  out["spawnCount"] = 0;
  out["cpuCount"] = cpus_of_template(limits);
  out["memoryMB"] = limits.memory_bytes / kMegabyte;
  out["diskSizeMB"] = limits.disk_bytes / kMegabyte;
  out["envdVersion"] = kEnvdVersion;
  out["buildCount"] = listed.builds.size();
  out["buildID"] = "";
  out["buildStatus"] = name_of(engine::kBuildStateNames, BuildState::waiting);
  if (listed.builds.empty()) return out;
  const engine::TemplateBuild& newest = listed.builds.front();
  out["buildID"] = newest.id;
  out["buildStatus"] = name_of(engine::kBuildStateNames, newest.state);
  out["updatedAt"] = timestamp(std::max(newest.created_ms, newest.finished_ms));
  return out;
}

object detail_json(const ListedTemplate& listed, const model::Limits& limits) {
  object out = listed_json(listed, limits);
  array builds;
  for (const engine::TemplateBuild& build : listed.builds) {
    object one;
    one["buildID"] = build.id;
    one["status"] = name_of(engine::kBuildStateNames, build.state);
    one["createdAt"] = timestamp(build.created_ms);
    one["updatedAt"] = timestamp(std::max(build.created_ms, build.finished_ms));
    if (build.finished_ms > 0) one["finishedAt"] = timestamp(build.finished_ms);
    one["cpuCount"] = cpus_of_template(limits);
    one["memoryMB"] = limits.memory_bytes / kMegabyte;
    one["diskSizeMB"] = limits.disk_bytes / kMegabyte;
    one["envdVersion"] = kEnvdVersion;
    builds.emplace_back(std::move(one));
  }
  out["builds"] = std::move(builds);
  return out;
}

}  // namespace paddock::api::e2b
