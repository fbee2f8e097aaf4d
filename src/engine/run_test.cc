// What a run does with what the agent reports of itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "engine/engine.h"
#include "image/host_root.h"
#include "isolation/testing/fake_backend.h"
#include "sys/files.h"
#include "sys/testing/temp_dir.h"
#include "view/view_store.h"

namespace paddock::engine {
namespace {

using isolation::testing::FakeBackend;
using isolation::testing::FakeOptions;

// Ends every command with status 0, and counts them.
isolation::testing::Script counting(std::atomic<int>& commands) {
  return [&commands](const wire::ToAgent& message, wire::AgentChannel& channel) {
    if (!message.has_start()) return;
    ++commands;
    wire::ToHost started;
    started.set_request(message.request());
    started.mutable_started()->set_command(message.start().command());
    (void)channel.send(started).ok();
    for (uint32_t stream : {message.start().stdout_stream(), message.start().stderr_stream()}) {
      if (stream != 0) channel.end_stream(stream);
    }
    wire::ToHost ended;
    ended.mutable_ended()->set_command(message.start().command());
    (void)channel.send(ended).ok();
  };
}

class RunTest : public ::testing::Test {
 protected:
  Result<model::RunReport> run(FakeOptions::Evidence evidence) {
    FakeOptions options;
    options.script = counting(commands_);
    options.evidence = evidence;
    Engine engine({home_, model::HostPath("/proc/self/exe"), database_, *images_, *views_,
                   [&](model::Level) -> Result<std::unique_ptr<isolation::Backend>> {
                     return std::unique_ptr<isolation::Backend>(
                         std::make_unique<FakeBackend>(options));
                   }});
    RunRequest request;
    request.policy.settings.mode = model::WorkspaceMode::none;
    request.directory = model::HostPath("/");
    request.argv = {"true"};
    return engine.run(request, [this](const model::Decision&) { ++decided_; });
  }
  size_t rows() { return database_.query("SELECT * FROM sandbox").value().size(); }
  size_t directories() {
    sys::DirFd dir = sys::open_dir(home_.str() + "/sandboxes").value();
    std::vector<sys::DirEntry> entries = sys::list_dir(dir).value();
    return static_cast<size_t>(std::count_if(
        entries.begin(), entries.end(), [](const auto& entry) { return entry.name[0] != '.'; }));
  }

  sys::testing::TempDir tmp_;
  model::HostPath home_{tmp_.path()};
  store::Database database_ = store::Database::open(home_.str() + "/paddock.db").value();
  std::unique_ptr<image::ImageStore> images_ = image::make_host_images({.home = home_});
  std::unique_ptr<view::ViewStore> views_ = view::open_view_store(home_, database_).value();
  std::atomic<int> commands_{0};
  int decided_ = 0;
};

TEST_F(RunTest, WithGoodEvidenceTheCommandRuns) {
  auto report = run(FakeOptions::Evidence::good);
  ASSERT_TRUE(report.ok()) << report.error().describe();
  EXPECT_EQ(model::exit_status(report->outcome), 0);
  EXPECT_EQ(commands_, 1);
  EXPECT_EQ(decided_, 1);
  EXPECT_EQ(rows() + directories(), 0u);
}

TEST_F(RunTest, EvidenceThatIsNotTheDecisionEndsTheSandboxBeforeAnyCommand) {
  auto report = run(FakeOptions::Evidence::forged);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code(), Code::failed_precondition);
  EXPECT_EQ(commands_, 0);
  EXPECT_EQ(decided_, 0);
  EXPECT_EQ(rows() + directories(), 0u);
}

}  // namespace
}  // namespace paddock::engine
