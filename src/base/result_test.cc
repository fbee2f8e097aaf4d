#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace paddock {
namespace {

Result<std::unique_ptr<int>> make_number(int n) {
  if (n < 0) return Error(Code::invalid_argument, "negative");
  return std::make_unique<int>(n);
}

Result<int> doubled(int n) {
  std::unique_ptr<int> number = PD_TRY_CTX("doubling", make_number(n));
  return *number * 2;
}

TEST(Result, TryYieldsTheValueOfAMoveOnlyResult) {
  EXPECT_EQ(doubled(21).value(), 42);
}

TEST(Result, TryReturnsTheErrorWithItsContext) {
  auto result = doubled(-1);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().describe(), "doubling: negative");
  EXPECT_EQ(result.error().code(), Code::invalid_argument);
}

TEST(Result, TryWorksOnStatus) {
  auto steps = [](bool fail) -> Status {
    PD_TRY(fail ? Status(Error(Code::internal, "boom")) : Status());
    return {};
  };
  EXPECT_TRUE(steps(false).ok());
  EXPECT_EQ(steps(true).error().message(), "boom");
}

TEST(Error, ContextsReadFromTheOutside) {
  Error error = Error::from_errno(ENOENT, "opening /x");
  error.add_context("reading the journal").add_context("starting");
  EXPECT_EQ(error.describe(),
            "starting: reading the journal: opening /x: No such file or directory");
  EXPECT_EQ(error.code(), Code::not_found);
  EXPECT_EQ(error.errno_value(), ENOENT);
}

TEST(Error, TheInnermostRemedyStays) {
  Error error(Code::unsupported, "no user namespaces");
  error.set_remedy("sysctl kernel.unprivileged_userns_clone=1").set_remedy("ask somebody");
  EXPECT_EQ(error.remedy(), "sysctl kernel.unprivileged_userns_clone=1");
}

TEST(ResultDeathTest, ReadingTheWrongSideAborts) {
  Result<int> result(Error(Code::internal, "x"));
  EXPECT_DEATH(result.value(), "");
}

}  // namespace
}  // namespace paddock
