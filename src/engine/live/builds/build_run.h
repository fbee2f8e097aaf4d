// One build, step by step: a sandbox over what is done already, a sealed layer for each step that
// writes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/live/builds/build_log.h"
#include "engine/live/builds/build_steps.h"
#include "engine/live/builds/build_table.h"
#include "engine/live/builds/uploads.h"
#include "engine/live/sandboxes.h"

namespace paddock::engine {

struct BuildPlan {
  CreateRequest base;  // what it begins with, and whose sandboxes they are
  std::vector<BuildStep> steps;
  std::string start_command;  // empty: the base's
  std::string ready_command;
  BuildStep::Cache cache = BuildStep::Cache::use;  // of all steps
};

// Used by one coroutine.
class BuildRun {
 public:
  struct Parts {
    Sandboxes& sandboxes;
    Uploads& uploads;
    BuildLog& log;
    std::function<void(const std::string& sandbox)> on_sandbox;  // it works in that one now
    const std::string& stopped;  // not empty: it is to end, for that reason
  };
  // It is to end by then (sys::monotonic_us()).
  BuildRun(Parts parts, const BuildPlan& plan, int64_t end_us)
      : parts_(std::move(parts)), plan_(plan), end_us_(end_us) {}

  // What sandboxes are made over. Its sandbox is gone at the end, however that is.
  Result<Sandboxes::StepLayer> run(net::Task& task);
  const std::string& base_template() const { return base_template_; }
  // Where it is, or failed: a step's number from 1 on, "base" or "finalize".
  const std::string& step() const { return step_; }

 private:
  Status begin(net::Task& task);
  Status take_steps(net::Task& task);
  Result<bool> take_done(net::Task& task, const BuildStep& step, const std::string& title);
  Status do_step(net::Task& task, const BuildStep& step);
  Result<Sandboxes::StepLayer> finish(net::Task& task);
  Status ensure_sandbox(net::Task& task);
  void end_sandbox(net::Task& task);

  Status run_command(net::Task& task, const BuildStep& step);
  Status copy(net::Task& task, const BuildStep& step);
  Status set_environment(const BuildStep& step);
  Status set_directory(net::Task& task, const BuildStep& step);
  Status set_user(net::Task& task, const BuildStep& step);

  Result<std::optional<GuestUser>> user(net::Task& task, const std::string& name);
  std::optional<GuestUser> root() const;
  Result<std::string> directory(net::Task& task);
  Status send_archive(net::Task& task, Process& process, const sys::FileFd& archive,
                      std::string piece);
  // A script of ours, as root where there is one; `what` is what failed where it does.
  Result<LiveSandbox::Started> begin_script(net::Task& task, ProcessRequest request,
                                            const std::string& what);
  Status end_script(net::Task& task, LiveSandbox::Started& started, const std::string& what);
  uint64_t left_ms() const;

  Parts parts_;
  const BuildPlan& plan_;
  int64_t end_us_;
  std::string step_ = "base";
  std::string base_template_;
  std::string key_;
  Sandboxes::StepLayer layer_;
  TemplateSettings settings_;
  bool takes_done_ = true;  // until a step had to be done
  std::shared_ptr<LiveSandbox> sandbox_;
};

}  // namespace paddock::engine
