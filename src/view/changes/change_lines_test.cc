#include "view/changes/change_lines.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace paddock::view {
namespace {

void expect(std::string_view before, std::string_view after, uint64_t added, uint64_t deleted) {
  LineDiff diff = diff_lines(before, after);
  EXPECT_EQ(diff.added, added) << before << "|" << after;
  EXPECT_EQ(diff.deleted, deleted) << before << "|" << after;
}

TEST(ChangeLines, CountsTheLinesOfAShortestDiff) {
  expect("", "", 0, 0);
  expect("", "a\nb\n", 2, 0);
  expect("a\nb\n", "", 0, 2);
  expect("a\nb\nc\n", "a\nx\nc\n", 1, 1);
  expect("a\nb\nc\n", "b\nc\na\n", 1, 1);
  expect("a\n", "a", 1, 1);
  expect("a\nb\nc\nd\n", "a\nc\nd\ne\n", 1, 1);
  expect("a\na\na\n", "a\na\n", 0, 1);
}

TEST(ChangeLines, VeryDifferentTextsAreBounded) {
  std::string before, after;
  for (int i = 0; i < 20000; ++i) {
    before += "old " + std::to_string(i) + "\n";
    after += "new " + std::to_string(i) + "\n";
  }
  expect("same\n" + before, "same\n" + after, 20000, 20000);
}

TEST(ChangeLines, BinaryIsAZeroByteNearTheFront) {
  EXPECT_TRUE(is_binary(std::string_view("a\0b", 3)));
  EXPECT_FALSE(is_binary("a\xff"));
  EXPECT_FALSE(is_binary(std::string(8000, 'x') + std::string(1, '\0')));
}

// The plain quadratic table says what the shortest script is.
uint64_t lcs(const std::string& a, const std::string& b) {
  std::vector<std::vector<uint64_t>> table(a.size() + 1, std::vector<uint64_t>(b.size() + 1));
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1
                                         : std::max(table[i - 1][j], table[i][j - 1]);
    }
  }
  return table[a.size()][b.size()];
}

TEST(ChangeLines, AgreesWithTheQuadraticTable) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    std::string a, b, before, after;
    for (unsigned i = random() % 12; i > 0; --i) a += static_cast<char>('a' + random() % 3);
    for (unsigned i = random() % 12; i > 0; --i) b += static_cast<char>('a' + random() % 3);
    for (char c : a) before += {c, '\n'};
    for (char c : b) after += {c, '\n'};
    uint64_t common = lcs(a, b);
    expect(before, after, b.size() - common, a.size() - common);
  }
}

}  // namespace
}  // namespace paddock::view
