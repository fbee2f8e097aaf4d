#include "agent/launch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/files.h"
#include "sys/pipe.h"
#include "sys/testing/temp_dir.h"

namespace paddock::agent {
namespace {

class LaunchTest : public ::testing::Test {
 protected:
  // Launches, and returns what the program printed; `status_` and `launched_` say the rest.
  std::string launch(const wire::Start& start) {
    auto plan = LaunchPlan::make(start, {});
    if (!plan.ok()) return plan.error().describe();
    sys::Pipe out = sys::make_pipe().value();
    for (int i : {0, 2}) (*plan)->streams[i] = sys::Fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
    (*plan)->streams[1] = std::move(out.write);
    launched_ = (*plan)->launch(-1);
    (*plan)->streams[1].reset();
    const std::string text = sys::read_all(out.read).value();
    ::waitpid(launched_.pid, &status_, 0);
    return text;
  }

  wire::Start start_of(std::initializer_list<const char*> argv) {
    wire::Start start;
    for (const char* argument : argv) start.add_argv(argument);
    start.add_environment("PATH=" + dir_.path() + "/first:" + dir_.path() + "/second:/bin");
    return start;
  }

  void make_script(const std::string& path, const std::string& text, mode_t mode) {
    ASSERT_TRUE(sys::make_dirs(dir_.path() + "/" + path.substr(0, path.find('/')), 0755).ok());
    ASSERT_TRUE(sys::replace_file(dir_.path() + "/" + path, text, mode).ok());
  }

  sys::testing::TempDir dir_;
  LaunchPlan::Launched launched_;
  int status_ = 0;
};

TEST_F(LaunchTest, RunsTheFirstProgramAlongThePath) {
  make_script("first/tool", "#!/bin/sh\necho first $1\n", 0755);
  make_script("second/tool", "#!/bin/sh\necho second\n", 0755);
  EXPECT_EQ(launch(start_of({"tool", "x"})), "first x\n");
}

TEST_F(LaunchTest, PassesOverWhatItMayNotExecute) {
  make_script("first/tool", "#!/bin/sh\necho first\n", 0644);
  make_script("second/tool", "#!/bin/sh\necho second\n", 0755);
  EXPECT_EQ(launch(start_of({"tool"})), "second\n");
}

TEST_F(LaunchTest, SaysThatItMayNotRatherThanThatItIsNotThere) {
  make_script("first/only-here", "#!/bin/sh\n", 0644);
  launch(start_of({"only-here"}));
  EXPECT_EQ(launched_.failed, LaunchStep::exec);
  EXPECT_EQ(launched_.error, EACCES);
  launch(start_of({"nowhere"}));
  EXPECT_EQ(launched_.error, ENOENT);
}

TEST_F(LaunchTest, GivesAScriptWithoutInterpreterToTheShell) {
  make_script("first/script", "echo script $0 $1\n", 0755);
  EXPECT_EQ(launch(start_of({"script", "a"})), "script " + dir_.path() + "/first/script a\n");
}

TEST_F(LaunchTest, StepsBeforeExecAreToldApart) {
  wire::Start start = start_of({"true"});
  start.set_directory("/no/such");
  launch(start);
  EXPECT_EQ(launched_.failed, LaunchStep::directory);
  start = start_of({"true"});
  start.add_limits()->set_resource(9999);
  launch(start);
  EXPECT_EQ(launched_.failed, LaunchStep::limits);
}

TEST_F(LaunchTest, GroupIsTheCommandsOwn) {
  const std::string text = launch(start_of({"sh", "-c", "echo $$; ps -o pgid= -p $$"}));
  const std::string pid = std::to_string(launched_.pid);
  EXPECT_TRUE(text.starts_with(pid + "\n")) << text;
  EXPECT_NE(text.rfind(pid), 0u) << text;
}

TEST_F(LaunchTest, ZeroByteInAnArgumentIsRefused) {
  wire::Start start = start_of({"echo"});
  start.add_argv(std::string("a\0b", 3));
  EXPECT_NE(launch(start).find("zero byte"), std::string::npos);
}

}  // namespace
}  // namespace paddock::agent
