#include "engine/live/builds/template_builder.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "engine/live/writable_places.h"
#include "model/ids.h"
#include "sys/clock.h"
#include "sys/fault_point.h"
#include "sys/random.h"

namespace paddock::engine {
namespace {

constexpr size_t kMaxTemplates = 1000;  // of an owner
constexpr size_t kMaxWaiting = 32;      // asked for and not begun, of an owner
constexpr size_t kKeptJobs = 64;        // whose logs are kept, of those that ended
constexpr int64_t kStepsKeptMs = 7ll * 86'400'000;

bool has_ended(const TemplateBuild& build) {
  return build.state == BuildState::ready || build.state == BuildState::error;
}

}  // namespace

Status TemplateBuilder::open(net::Task& task) {
  const int64_t now_ms = sys::wall_clock_ms();
  PD_TRY(sandboxes_.on_books(task, [&](store::Database& database) -> Status {
    BuildTable table(database);
    PD_TRY(table.fail_unfinished("the server ended before the build did: build again", now_ms));
    return table.forget_steps_before(now_ms - kStepsKeptMs);
  }));
  return sandboxes_.collect(task);
}

// ---- asked for

Result<TemplateBuild> TemplateBuilder::request(net::Task& task, BuildRequest wanted) {
  if (ending_) return Error(Code::unavailable, "the daemon is ending");
  const size_t waiting = std::ranges::count_if(jobs_, [&](const auto& item) {
    return item.second->owner == wanted.owner && item.second->build.state == BuildState::waiting;
  });
  if (waiting >= kMaxWaiting) {
    return Error(Code::resource_exhausted, "too many builds were asked for and not begun")
        .set_remedy("begin them, or wait an hour until they are forgotten");
  }
  auto job = std::make_shared<Job>();
  job->owner = wanted.owner;
  job->tags = std::move(wanted.tags);
  TemplateBuild& build = job->build;
  build.id = new_boot_id();  // a UUID, as clients know builds by
  build.created_ms = sys::wall_clock_ms();
  BuiltTemplate made{model::SandboxId::from_entropy(sys::random_bytes(8)).str(), wanted.name,
                     wanted.owner, build.created_ms};
  PD_TRY(sandboxes_.on_books(task, [&](store::Database& database) -> Status {
    BuildTable table(database);
    const auto all = PD_TRY(table.list());
    const size_t own = std::ranges::count(all, wanted.owner, &BuiltTemplate::owner);
    const bool is_known = std::ranges::any_of(all, [&](const BuiltTemplate& other) {
      return other.owner == wanted.owner && other.name == wanted.name;
    });
    if (!is_known && own >= kMaxTemplates) {
      return Error(Code::resource_exhausted, fmt::format("there are {} templates already", own))
          .set_remedy("delete some that are not needed");
    }
    build.template_id = PD_TRY(table.ensure(made)).id;
    PD_TRY(table.prune(build.template_id, build.created_ms));
    return table.add(build);
  }));
  if (!wanted.remark.empty()) job->log.add(BuildLevel::warn, std::move(wanted.remark));
  forget_old_jobs();
  jobs_.emplace(build.id, job);
  return build;
}

void TemplateBuilder::forget_old_jobs() {
  const int64_t now_ms = sys::wall_clock_ms();
  std::erase_if(jobs_, [&](const auto& item) {
    const TemplateBuild& build = item.second->build;
    return build.state == BuildState::waiting && now_ms - build.created_ms > 3'600'000;
  });
  std::vector<const TemplateBuild*> ended;
  for (const auto& [id, job] : jobs_) {
    if (has_ended(job->build)) ended.push_back(&job->build);
  }
  std::ranges::sort(ended, {}, &TemplateBuild::finished_ms);
  for (size_t i = 0; i + kKeptJobs < ended.size(); ++i) jobs_.erase(std::string(ended[i]->id));
}

BuildReport TemplateBuilder::report(TemplateBuild on_record, size_t from_line) const {
  BuildReport report{std::move(on_record), {}};
  const auto found = jobs_.find(report.build.id);
  if (found == jobs_.end()) return report;
  const Job& job = *found->second;
  report.build = job.build;
  const std::vector<BuildLine>& lines = job.log.lines();
  const size_t from = std::min(from_line, lines.size());
  report.lines.assign(lines.begin() + static_cast<ptrdiff_t>(from), lines.end());
  return report;
}

// ---- run

// Of all, where nobody is named; those that wait for their turn included.
size_t TemplateBuilder::under_way(const model::Owner* owner) const {
  return std::ranges::count_if(jobs_, [&](const auto& item) {
    const bool counts = owner == nullptr || item.second->owner == *owner;
    return counts && item.second->build.state == BuildState::building;
  });
}

Status TemplateBuilder::start(net::Task& task, const TemplateBuild& build, BuildPlan plan) {
  if (ending_) return Error(Code::unavailable, "the daemon is ending");
  const auto found = jobs_.find(build.id);
  if (found == jobs_.end() || found->second->build.state != BuildState::waiting) {
    return Error(Code::failed_precondition, "the build has begun already, or was forgotten")
        .set_remedy("ask for another one");
  }
  const std::shared_ptr<Job> job = found->second;
  const size_t of_one = std::max<size_t>(options_.at_once / 2, 1);
  if (under_way(&job->owner) >= of_one || under_way(nullptr) >= options_.at_once) {
    return Error(Code::resource_exhausted,
                 fmt::format("too many builds at once: {} of a key, {} in all", of_one,
                             options_.at_once))
        .set_remedy("wait for one to end");
  }
  job->build.state = BuildState::building;
  Status noted = sandboxes_.on_books(
      task, [&](store::Database& database) { return BuildTable(database).set(job->build); });
  if (!noted.ok()) {
    job->build.state = BuildState::waiting;
    return noted;
  }
  ++running_;
  loop_.spawn([this, job, plan = std::move(plan)](net::Task& builder) {
    run(builder, job, plan);
    --running_;
  });
  return {};
}

void TemplateBuilder::run(net::Task& task, const std::shared_ptr<Job>& job, const BuildPlan& plan) {
  const int64_t end_us = sys::monotonic_us() + static_cast<int64_t>(options_.seconds) * 1'000'000;
  BuildRun run({sandboxes_, uploads_, job->log,
                [job](const std::string& sandbox) { job->sandbox = sandbox; }, job->stopped},
               plan, end_us);
  sys::fault_point("build.begun");
  Status concluded = conclude(task, *job, run, run.run(task));
  if (!concluded.ok()) {
    job->build.reason = concluded.error().describe();
    job->build.finished_ms = sys::wall_clock_ms();
    job->build.state = BuildState::error;
    // What cannot be put on record now is by the next daemon.
    (void)sandboxes_.on_books(
        task, [&](store::Database& database) { return BuildTable(database).set(job->build).ok(); });
  }
  (void)sandboxes_.collect(task).ok();
}

Status TemplateBuilder::conclude(net::Task& task, Job& job, const BuildRun& run,
                                 Result<Sandboxes::StepLayer> built) {
  if (!job.stopped.empty()) built = Error(Code::unavailable, job.stopped);
  TemplateBuild build = job.build;
  build.finished_ms = sys::wall_clock_ms();
  build.state = built.ok() ? BuildState::ready : BuildState::error;
  if (built.ok()) {
    build.base_template = run.base_template();
    build.layer = built->layer;
  } else {
    build.step = run.step();
    build.reason = built.error().describe();
    if (!built.error().remedy().empty()) build.reason += "; " + built.error().remedy();
  }
  sys::fault_point("build.done");
  PD_TRY(sandboxes_.on_books(task, [&](store::Database& database) -> Status {
    return database.transaction([&]() -> Status {
      BuildTable table(database);
      PD_TRY(table.set(build));
      for (const std::string& tag : job.tags) {
        if (!built.ok()) break;
        PD_TRY(table.set_tag(build.template_id, {tag, build.id, build.finished_ms}));
      }
      return table.prune(build.template_id, build.finished_ms);
    });
  }));
  sys::fault_point("build.recorded");
  job.log.begin_step(build.step, "");
  job.log.add(built.ok() ? BuildLevel::info : BuildLevel::error,
              built.ok() ? "the template is ready" : build.reason);
  job.build = std::move(build);
  return {};
}

// ---- ended early

void TemplateBuilder::stop(net::Task& task, Job& job, const std::string& why) {
  if (job.build.state != BuildState::building) return;
  job.stopped = why;
  const std::string sandbox = job.sandbox;
  if (!sandbox.empty()) (void)sandboxes_.kill(task, sandbox, why).ok();
}

Status TemplateBuilder::remove(net::Task& task, const BuiltTemplate& removed) {
  std::vector<std::shared_ptr<Job>> mine;
  for (const auto& [id, job] : jobs_) {
    if (job->build.template_id == removed.id) mine.push_back(job);
  }
  for (const auto& job : mine) stop(task, *job, "its template was deleted");
  PD_TRY(sandboxes_.on_books(
      task, [&](store::Database& database) { return BuildTable(database).remove(removed.id); }));
  for (const auto& job : mine) jobs_.erase(job->build.id);
  return sandboxes_.collect(task);
}

void TemplateBuilder::end(net::Task& task) {
  ending_ = true;
  while (running_ > 0) {
    std::vector<std::shared_ptr<Job>> all;
    for (const auto& [id, job] : jobs_) all.push_back(job);
    for (const auto& job : all) stop(task, *job, "the server ended before the build did");
    task.sleep(std::chrono::milliseconds(20));
  }
}

}  // namespace paddock::engine
