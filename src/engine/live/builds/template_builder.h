// Builds of templates: asked for, run beside each other, told about.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/live/builds/build_run.h"

namespace paddock::engine {

struct BuilderOptions {
  size_t at_once = 4;       // of all owners; others wait. Half of them, at least one, of one owner
  uint64_t seconds = 3600;  // that one may take
};

struct BuildRequest {
  model::Owner owner;
  std::string name;               // of the template, without a tag
  std::vector<std::string> tags;  // that a good build gets
  std::string remark;             // for its log; may be empty
};

struct BuildReport {
  TemplateBuild build;
  std::vector<BuildLine> lines;  // those of an earlier daemon's builds are gone
};

// Used on the loop's thread, after Sandboxes::open(). What it keeps is in the tables of BuildTable;
// of logs, those of the latest builds, in memory.
class TemplateBuilder {
 public:
  TemplateBuilder(net::Loop& loop, Sandboxes& sandboxes, Uploads& uploads, BuilderOptions options)
      : loop_(loop), sandboxes_(sandboxes), uploads_(uploads), options_(options) {}

  // Before anything else: what an earlier daemon was at has failed.
  Status open(net::Task& task);

  // Puts one on record that waits for start(). resource_exhausted: the owner has too many.
  Result<TemplateBuild> request(net::Task& task, BuildRequest wanted);
  // Goes on by itself. failed_precondition: it has begun already. resource_exhausted: too many of
  // its owner's are under way.
  Status start(net::Task& task, const TemplateBuild& build, BuildPlan plan);
  // What is known of it now, its log from that line on.
  BuildReport report(TemplateBuild on_record, size_t from_line) const;
  // With its builds; those under way are ended.
  Status remove(net::Task& task, const BuiltTemplate& removed);
  // Ends what runs, and begins nothing more.
  void end(net::Task& task);

  Uploads& uploads() { return uploads_; }
  Sandboxes& sandboxes() { return sandboxes_; }
  const BuilderOptions& options() const { return options_; }

 private:
  struct Job {
    TemplateBuild build;
    model::Owner owner;
    std::vector<std::string> tags;
    BuildLog log;
    std::string sandbox;  // that it works in
    std::string stopped;  // why it is to end before its time
  };

  void run(net::Task& task, const std::shared_ptr<Job>& job, const BuildPlan& plan);
  Status conclude(net::Task& task, Job& job, const BuildRun& run,
                  Result<Sandboxes::StepLayer> built);
  void stop(net::Task& task, Job& job, const std::string& why);
  size_t under_way(const model::Owner* owner) const;
  void forget_old_jobs();

  net::Loop& loop_;
  Sandboxes& sandboxes_;
  Uploads& uploads_;
  BuilderOptions options_;
  bool ending_ = false;
  size_t running_ = 0;                                // coroutines of run()
  std::map<std::string, std::shared_ptr<Job>> jobs_;  // by build
};

}  // namespace paddock::engine
