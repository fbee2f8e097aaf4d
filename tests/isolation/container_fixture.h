// A container whose first process is guest_shell: for tests of what isolation alone gives, before
// there is an agent, seccomp or Landlock.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "isolation/backend.h"
#include "sys/testing/temp_dir.h"

namespace paddock::isolation::testing {

struct CommandOutcome {
  int status = -1;
  std::string output;
};

// Skips the test, naming the capability, where this host has no user namespaces for the caller.
#define PD_NEED_USER_NAMESPACES()                                     \
  if (!::paddock::isolation::testing::has_user_namespaces()) {        \
    GTEST_SKIP() << "needs userns: the host forbids user namespaces"; \
  }

bool has_user_namespaces();

class ContainerTest : public ::testing::Test {
 protected:
  ContainerTest();

  // The machine's /usr in a throw-away overlay, /bin and the like as on the host, an /etc with two
  // files. HOME is /home/user.
  SandboxPlan host_plan() const;
  // Adds a workspace at `at`, with upper and work directories in the test's own directory. Its
  // lower is `workspace()`.
  void add_workspace(SandboxPlan& plan, const std::string& at);

  std::string workspace() const { return dir_.path() + "/workspace"; }
  std::string upper() const { return dir_.path() + "/view/fs"; }
  const std::string& directory() const { return dir_.path(); }

  Result<std::unique_ptr<Sandbox>> start(const SandboxPlan& plan) { return backend_->start(plan); }
  std::unique_ptr<Sandbox> must_start(const SandboxPlan& plan);
  // Runs `command` by sh in the sandbox.
  CommandOutcome run(Sandbox& sandbox, const std::string& command);
  std::string output_of(Sandbox& sandbox, const std::string& command);

  Backend& backend() { return *backend_; }

 private:
  sys::testing::TempDir dir_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace paddock::isolation::testing
