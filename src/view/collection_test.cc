#include "view/collection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paddock::view {
namespace {

constexpr int64_t kNow = 1'000'000'000;

enum class Work { open, done };

Candidate view(int64_t age_seconds, ViewState state, uint64_t bytes, Work work = Work::open) {
  Candidate candidate;
  candidate.used_ms = candidate.info.created_ms = kNow - age_seconds * 1000;
  candidate.info.state = state;
  candidate.info.bytes = bytes;
  candidate.is_done = work == Work::done;
  return candidate;
}

std::vector<int64_t> ages(const std::vector<ViewInfo>& views) {
  std::vector<int64_t> ages;
  for (const ViewInfo& info : views) ages.push_back((kNow - info.created_ms) / 1000);
  return ages;
}

model::ViewRules rules(uint64_t seconds, uint64_t bytes) {
  return {seconds, bytes, {}};
}

TEST(Collection, WhatIsDoneGoesAtAnyAge) {
  EXPECT_THAT(ages(choose_garbage({view(1, ViewState::applied, 1, Work::done),
                                   view(2, ViewState::discarded, 0, Work::done),
                                   view(4, ViewState::applied, 1), view(3, ViewState::ready, 1)},
                                  rules(100, 100), kNow)),
              ::testing::ElementsAre(2, 1));
}

TEST(Collection, UnappliedWorkStaysWithinAgeAndSize) {
  EXPECT_THAT(
      ages(choose_garbage({view(50, ViewState::ready, 40), view(99, ViewState::interrupted, 40),
                           view(100, ViewState::ready, 1), view(101, ViewState::interrupted, 1)},
                          rules(100, 100), kNow)),
      ::testing::ElementsAre(101, 100));
}

TEST(Collection, BeyondTheSizeTheOldestGoFirstAndNoMoreThanNeeded) {
  EXPECT_THAT(ages(choose_garbage({view(1, ViewState::ready, 60), view(3, ViewState::ready, 60),
                                   view(2, ViewState::ready, 30)},
                                  rules(100, 100), kNow)),
              ::testing::ElementsAre(3));
}

TEST(Collection, AViewThatRunsStaysWhateverItsAgeAndSize) {
  EXPECT_TRUE(choose_garbage({view(1000, ViewState::running, 1000)}, rules(1, 1), kNow).empty());
}

TEST(Collection, AViewThatWasUsedLatelyIsYoung) {
  Candidate used = view(1000, ViewState::ready, 1);
  used.used_ms = kNow - 5000;
  EXPECT_TRUE(choose_garbage({used}, rules(100, 100), kNow).empty());
}

TEST(Collection, AViewFromTheFutureIsYoung) {
  EXPECT_TRUE(choose_garbage({view(-50, ViewState::ready, 1)}, rules(1, 100), kNow).empty());
}

}  // namespace
}  // namespace paddock::view
