#include "engine/live/builds/build_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "engine/live/builds/build_scripts.h"
#include "engine/live/command_run.h"
#include "engine/live/guest_files.h"
#include "engine/live/template_start.h"
#include "sys/clock.h"
#include "sys/digest.h"
#include "sys/fault_point.h"

namespace paddock::engine {
namespace {

constexpr std::chrono::milliseconds kReadyInBuild{600'000};
constexpr std::chrono::milliseconds kInputPatience{60'000};
constexpr size_t kToldOfError = 500;

std::string_view stream_of(OutputKind kind) {
  return kind == OutputKind::standard_error ? "stderr" : "stdout";
}

bool writes(const BuildStep& step) {
  return step.kind != StepKind::environment;
}

Error time_is_up() {
  return Error(Code::timed_out, "the time of the build is up")
      .set_remedy("build less at once, or raise `build_timeout` in server.toml");
}

}  // namespace

uint64_t BuildRun::left_ms() const {
  return static_cast<uint64_t>(std::max<int64_t>((end_us_ - sys::monotonic_us()) / 1000, 0));
}

Result<Sandboxes::StepLayer> BuildRun::run(net::Task& task) {
  Status done = begin(task);
  if (done.ok()) done = take_steps(task);
  Result<Sandboxes::StepLayer> finished = done.ok() ? finish(task) : std::move(done).error();
  parts_.log.end_output();
  end_sandbox(task);
  const bool says_so = finished.ok() || finished.error().code() == Code::timed_out;
  if (!says_so && left_ms() == 0) return time_is_up();
  return finished;
}

// What steps follow from: whose they are, and what they are done over.
Status BuildRun::begin(net::Task& task) {
  const auto& origin = plan_.base.origin;
  base_template_ = origin ? origin->base_template : plan_.base.template_name;
  if (origin) layer_ = {origin->layer, parts_.sandboxes.pin(origin->layer)};
  settings_ = PD_TRY(parts_.sandboxes.settings_of(task, layer_.layer));
  parts_.log.begin_step("base", "[base]");
  parts_.log.add(BuildLevel::info,
                 fmt::format("[base] FROM {}", printable(plan_.base.template_name)));
  key_ = sys::sha256_hex(fmt::format("{}\n{}\n{}\n{}", plan_.base.owner.key.str(), base_template_,
                                     layer_.layer, encode(settings_)));
  return {};
}

Status BuildRun::take_steps(net::Task& task) {
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    const BuildStep& step = plan_.steps[i];
    step_ = std::to_string(i + 1);
    const std::string title = fmt::format("[builder {}/{}]", i + 1, plan_.steps.size());
    parts_.log.begin_step(step_, title);
    key_ = step_key(key_, step);
    if (PD_TRY(take_done(task, step, title))) continue;
    takes_done_ = false;
    if (!parts_.stopped.empty()) return Error(Code::unavailable, parts_.stopped);
    if (left_ms() == 0) return time_is_up();
    parts_.log.add(BuildLevel::info, title + " " + describe(step));
    PD_TRY(ensure_sandbox(task));
    PD_TRY(do_step(task, step));
    if (writes(step)) {
      layer_ =
          PD_TRY_CTX("keeping what the step wrote", parts_.sandboxes.seal_step(task, *sandbox_));
    }
    sys::fault_point("build.step.sealed");
    PD_TRY(parts_.sandboxes.on_books(task, [&](store::Database& database) {
      return BuildTable(database).put_step(key_, base_template_, {layer_.layer, settings_},
                                           sys::wall_clock_ms());
    }));
    sys::fault_point("build.step.recorded");
  }
  return {};
}

Result<bool> BuildRun::take_done(net::Task& task, const BuildStep& step, const std::string& title) {
  const bool may =
      takes_done_ && plan_.cache == BuildStep::Cache::use && step.cache == BuildStep::Cache::use;
  if (!may) return false;
  auto done = PD_TRY(parts_.sandboxes.on_books(task, [&](store::Database& database) {
    return BuildTable(database).find_step(key_, sys::wall_clock_ms());
  }));
  if (!done) return false;
  layer_ = {done->layer, parts_.sandboxes.pin(done->layer)};
  settings_ = std::move(done->settings);
  parts_.log.add(BuildLevel::info, "CACHED " + title + " " + describe(step));
  return true;
}

// The settings of a template lie in a layer of their own: others may have the same files.
Result<Sandboxes::StepLayer> BuildRun::finish(net::Task& task) {
  step_ = "finalize";
  parts_.log.begin_step(step_, "[finalize]");
  if (!plan_.start_command.empty() || !plan_.ready_command.empty()) {
    settings_.start_command = plan_.start_command;
    settings_.ready_command = plan_.ready_command;
  }
  if (settings_.starts_something()) {
    PD_TRY(ensure_sandbox(task));
    parts_.log.add(BuildLevel::info, "[finalize] starting " + printable(settings_.start_command) +
                                         ", ready when: " + printable(settings_.ready_command));
    TemplateSettings mine = settings_;
    mine.directory = PD_TRY(directory(task));
    const auto as = PD_TRY(user(task, settings_.user));
    if (as) sandbox_->set_user(*as);
    const auto patience =
        std::min<std::chrono::milliseconds>(kReadyInBuild, std::chrono::milliseconds(left_ms()));
    PD_TRY(start_template(task, *sandbox_, mine, {patience, [&](OutputKind kind, auto bytes) {
                                                    parts_.log.add_output(stream_of(kind), bytes);
                                                  }}));
    parts_.log.end_output();
  }
  return parts_.sandboxes.put_settings_over(task, layer_.layer, settings_);
}

// ---- its sandbox

Status BuildRun::ensure_sandbox(net::Task& task) {
  if (sandbox_) return {};
  CreateRequest request = plan_.base;
  request.purpose = LiveInfo::Purpose::build;
  request.timeout_ms = std::max<int64_t>(static_cast<int64_t>(left_ms()), 1);
  request.origin.reset();
  if (!layer_.layer.empty()) request.origin = Origin{base_template_, layer_.layer};
  sandbox_ =
      PD_TRY_CTX("making the build's sandbox", parts_.sandboxes.create(task, std::move(request)));
  parts_.on_sandbox(sandbox_->id());
  return {};
}

void BuildRun::end_sandbox(net::Task& task) {
  if (!sandbox_) return;
  parts_.on_sandbox("");
  // One that is gone already is as good.
  (void)parts_.sandboxes.kill(task, sandbox_->id(), "its build ended").ok();
  sandbox_.reset();
}

Result<std::optional<GuestUser>> BuildRun::user(net::Task& task, const std::string& name) {
  auto found = find_guest_user(task, *sandbox_, name);
  if (found.ok() || found.error().code() != Code::not_found) return found;
  return Error(Code::not_found,
               fmt::format("unauthenticated: invalid username: '{}'", printable(name)));
}

// Where the sandbox has one user there is nobody else to be.
std::optional<GuestUser> BuildRun::root() const {
  if (sandbox_->setup().users == isolation::Users::one) return std::nullopt;
  return GuestUser{
      .name = "root", .uid = 0, .gid = 0, .groups = {}, .home = "/root", .shell = "/bin/sh"};
}

Result<std::string> BuildRun::directory(net::Task& task) {
  if (!settings_.directory.empty()) return settings_.directory;
  const auto as = PD_TRY(user(task, settings_.user));
  return as ? as->home : sandbox_->setup().user.home;
}

// ---- steps

Status BuildRun::do_step(net::Task& task, const BuildStep& step) {
  switch (step.kind) {
    case StepKind::run:
      return run_command(task, step);
    case StepKind::copy:
      return copy(task, step);
    case StepKind::environment:
      return set_environment(step);
    case StepKind::directory:
      return set_directory(task, step);
    case StepKind::user:
      return set_user(task, step);
  }
  return Error(Code::internal, "a step of no kind");
}

Status BuildRun::run_command(net::Task& task, const BuildStep& step) {
  const std::string failed =
      fmt::format("failed to run command '{}': command failed: ", printable(step.arg(0)));
  const std::string& name = step.arg(1).empty() ? settings_.user : step.arg(1);
  auto as = user(task, name);
  if (!as.ok()) return Error(as.error().code(), failed + as.error().describe());
  ProcessRequest request = shell_request(step.arg(0));
  request.environment = settings_.environment;
  request.directory = PD_TRY(directory(task));
  request.user = std::move(*as);
  request.timeout_ms = std::max<uint64_t>(left_ms(), 1);
  auto started = sandbox_->start(task, std::move(request));
  if (!started.ok()) return Error(started.error().code(), failed + started.error().describe());
  const wire::Ended ended =
      PD_TRY(run_to_end(task, *started, [&](OutputKind kind, std::string_view bytes) {
        parts_.log.add_output(stream_of(kind), bytes);
      }));
  parts_.log.end_output();
  if (is_success(ended)) return {};
  return Error(Code::failed_precondition, failed + describe(ended));
}

Result<LiveSandbox::Started> BuildRun::begin_script(net::Task& task, ProcessRequest request,
                                                    const std::string& what) {
  request.user = root();
  request.timeout_ms = std::max<uint64_t>(left_ms(), 1);
  return PD_TRY_CTX(what, sandbox_->start_hidden(task, std::move(request)));
}

// What it says is why it failed.
Status BuildRun::end_script(net::Task& task, LiveSandbox::Started& started,
                            const std::string& what) {
  std::string said;
  const wire::Ended ended = PD_TRY(run_to_end(task, started, [&](OutputKind, auto bytes) {
    said += bytes.substr(0, kToldOfError - std::min(kToldOfError, said.size()));
  }));
  if (is_success(ended)) return {};
  return Error(Code::failed_precondition,
               fmt::format("{}: {}: {}", what, describe(ended), printable(trim(said))));
}

Status BuildRun::copy(net::Task& task, const BuildStep& step) {
  const std::string what =
      fmt::format("failed to copy '{}' to '{}'", printable(step.arg(0)), printable(step.arg(1)));
  const sys::FileFd archive =
      PD_TRY_CTX(what, parts_.uploads.read(task, {plan_.base.owner, step.files_hash}));
  std::string first = PD_TRY(parts_.uploads.next_piece(task, archive));
  const bool is_gzip = first.starts_with("\x1f\x8b");
  std::string owner = step.arg(2);
  const auto as = PD_TRY(user(task, settings_.user));
  const std::string own = as ? as->name : sandbox_->setup().user.name;
  if (!root()) {
    const bool asks = !owner.empty() && owner.substr(0, owner.find(':')) != own;
    if (asks) PD_TRY(find_guest_user(task, *sandbox_, owner));  // which says why not
    owner.clear();
  } else {
    if (owner.empty()) owner = own;
    if (owner.find(':') == std::string::npos) owner += ":";  // and his group
  }
  ProcessRequest request =
      copy_script({fixed_part(step.arg(0)), step.arg(1), owner, step.arg(3), is_gzip ? "-z" : ""});
  request.directory = PD_TRY(directory(task));
  auto started = PD_TRY(begin_script(task, std::move(request), what));
  // Input that is not taken has its reason in the script's end.
  const Status sent = send_archive(task, *started.process, archive, std::move(first));
  if (!sent.ok() && sent.error().code() != Code::failed_precondition) {
    return Status(sent).with_context(what);
  }
  return end_script(task, started, what);
}

Status BuildRun::send_archive(net::Task& task, Process& process, const sys::FileFd& archive,
                              std::string piece) {
  while (!piece.empty() && !process.has_ended()) {
    PD_TRY(process.send_input(task, piece, kInputPatience));
    piece = PD_TRY(parts_.uploads.next_piece(task, archive));
  }
  process.close_input();
  return {};
}

Status BuildRun::set_environment(const BuildStep& step) {
  std::map<std::string, std::string> known = sandbox_->setup().environment;
  for (const auto& [name, value] : settings_.environment) known[name] = value;
  // All values see what was there before the step.
  for (size_t i = 0; i + 1 < step.args.size(); i += 2) {
    settings_.environment[step.args[i]] = expand_variables(step.args[i + 1], known);
  }
  return {};
}

Status BuildRun::set_directory(net::Task& task, const BuildStep& step) {
  const std::string from = PD_TRY(directory(task));
  const auto as = PD_TRY(user(task, settings_.user));
  const std::string own = as ? as->name : sandbox_->setup().user.name;
  const std::string to = PD_TRY(guest_path(step.arg(0), from));
  ProcessRequest request = directory_script(to, root() ? own + ":" : "");
  request.directory = "/";
  const std::string what = "failed to make directory '" + printable(to) + "'";
  auto started = PD_TRY(begin_script(task, std::move(request), what));
  PD_TRY(end_script(task, started, what));
  settings_.directory = to;
  return {};
}

Status BuildRun::set_user(net::Task& task, const BuildStep& step) {
  const std::string& name = step.arg(0);
  auto found = find_guest_user(task, *sandbox_, name);
  if (!found.ok() && found.error().code() == Code::not_found && root()) {
    ProcessRequest request = user_script(name);
    request.directory = "/";
    const std::string what = "failed to make user '" + name + "'";
    auto started = PD_TRY(begin_script(task, std::move(request), what));
    PD_TRY(end_script(task, started, what));
    found = find_guest_user(task, *sandbox_, name);
  }
  if (!found.ok()) return std::move(found).error().add_context("user '" + name + "'");
  settings_.user = name;
  return {};
}

}  // namespace paddock::engine
