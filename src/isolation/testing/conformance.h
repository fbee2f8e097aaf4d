// What every backend does, whatever it builds: the suite that keeps levels interchangeable. A test
// program of a backend links it and writes
//   INSTANTIATE_TEST_SUITE_P(Container, BackendConformance, ::testing::Values(&subject));
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "isolation/backend.h"

namespace paddock::isolation::testing {

struct Subject {
  std::function<std::unique_ptr<Backend>()> make_backend;
  std::function<SandboxPlan()> make_plan;  // a new one that starts, with the real agent or a fake
  std::function<std::string()>
      why_not;  // "needs CAPABILITY: …" where the host lacks it; else empty
};

class BackendConformance : public ::testing::TestWithParam<const Subject*> {
 protected:
  void SetUp() override;
  std::unique_ptr<Sandbox> must_start(const SandboxPlan& plan);

  std::unique_ptr<Backend> backend_;
};

}  // namespace paddock::isolation::testing
