// Replays the fuzzer's seeds, and truncations and flips of them, in the ordinary test run.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "policy/testing/policy_check.h"

namespace paddock::policy {
namespace {

std::vector<std::string> seeds() {
  std::vector<std::string> texts;
  for (const auto& entry :
       std::filesystem::directory_iterator(PADDOCK_SOURCE_DIR "/src/policy/fuzz_seeds/policy")) {
    std::ifstream file(entry.path(), std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return texts;
}

TEST(PolicyFuzz, EverySeedKeepsThePromises) {
  ASSERT_GE(seeds().size(), 6u);
  for (const std::string& seed : seeds()) EXPECT_EQ(testing::check_policy_input(seed), "") << seed;
}

TEST(PolicyFuzz, DamagedSeedsKeepThem) {
  std::mt19937 rng(7);
  for (const std::string& seed : seeds()) {
    for (int i = 0; i < 20; ++i) {
      std::string damaged = seed.substr(0, 1 + rng() % seed.size());
      damaged[rng() % damaged.size()] = static_cast<char>(rng());
      EXPECT_EQ(testing::check_policy_input(damaged), "") << damaged;
    }
  }
}

}  // namespace
}  // namespace paddock::policy
