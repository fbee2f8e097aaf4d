#include "sys/command.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/strings.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/testing/temp_dir.h"

namespace paddock::sys {
namespace {

constexpr CommandLimits kWide{
    .cpu_seconds = 60, .memory_bytes = 1u << 30, .file_bytes = 1u << 30, .wall_ms = 60'000};

Result<CommandResult> shell(const std::string& script, std::optional<CommandLimits> limits,
                            const std::string& directory = "/") {
  Command command{.argv = {"/bin/sh", "-c", script},
                  .environment = {"PATH=/usr/bin:/bin"},
                  .directory = directory,
                  .input = "go\n"};
  command.limits = limits;
  return run_command(command);
}

TEST(CommandLimits, HoldBeforeInputIsRead) {
  CommandLimits limits = kWide;
  limits.cpu_seconds = 7;
  EXPECT_EQ(shell("read x; ulimit -t; ulimit -c", limits)->out, "7\n0\n");
  EXPECT_EQ(shell("read x; ulimit -t", std::nullopt)->out, "unlimited\n");
}

TEST(CommandLimits, EndWhatComputesForEver) {
  CommandLimits limits = kWide;
  limits.cpu_seconds = 1;
  EXPECT_EQ(shell("read x; while :; do :; done", limits)->exit_code, 128 + SIGKILL);
}

TEST(CommandLimits, EndWhatWaitsForEverWithItsChildren) {
  CommandLimits limits = kWide;
  limits.wall_ms = 300;
  const auto late = shell("sleep 1000 & echo $! >&2; sleep 1000", limits);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code(), Code::timed_out);

  testing::TempDir temp;
  EXPECT_FALSE(shell("sleep 1000 & echo $! > pid; wait", limits, temp.path()).ok());
  const auto pid = parse_u64(trim(read_file(temp.path() + "/pid").value()));
  ASSERT_TRUE(pid.has_value());
  const int64_t until = monotonic_us() + 10'000'000;
  while (::kill(static_cast<pid_t>(*pid), 0) == 0 && monotonic_us() < until) ::usleep(10'000);
  EXPECT_NE(::kill(static_cast<pid_t>(*pid), 0), 0) << "its child is gone, too";
}

TEST(CommandLimits, BoundFilesAndMemory) {
  testing::TempDir temp;
  CommandLimits limits = kWide;
  limits.file_bytes = 1u << 20;
  limits.memory_bytes = 64u << 20;
  const std::string file = "read x; head -c 2000000 /dev/zero > file && echo whole";
  EXPECT_EQ(shell(file, limits, temp.path())->out, "");
  EXPECT_EQ(shell(file, std::nullopt, temp.path())->out, "whole\n");
  const std::string memory = "read x; x=$(head -c 100000000 /dev/zero | tr '\\0' x) && echo held";
  EXPECT_EQ(shell(memory, limits)->out, "");
  EXPECT_EQ(shell(memory, kWide)->out, "held\n");
}

}  // namespace
}  // namespace paddock::sys
