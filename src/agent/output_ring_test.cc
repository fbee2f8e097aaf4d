#include "agent/output_ring.h"

#include <gtest/gtest.h>

namespace paddock::agent {
namespace {

using Output = OutputRing::Output;

// Everything that is kept, with a mark where the output changes.
std::string all_of(const OutputRing& ring, size_t most = 1000) {
  std::string text;
  for (uint64_t at = ring.first(); at < ring.next();) {
    const auto piece = ring.at(at, most);
    text += (piece.output == Output::standard ? "o:" : "e:") + std::string(piece.bytes) + " ";
    at += piece.bytes.size();
  }
  return text;
}

TEST(OutputRing, KeepsBothOutputsInTheirOrder) {
  OutputRing::Budget budget;
  OutputRing ring(1000, budget);
  ring.append(Output::standard, "one");
  ring.append(Output::standard, "two");
  ring.append(Output::error, "three");
  ring.append(Output::standard, "four");
  EXPECT_EQ(all_of(ring), "o:onetwo e:three o:four ");
  EXPECT_EQ(ring.first(), 0u);
  EXPECT_EQ(ring.next(), 15u);
  EXPECT_EQ(ring.at(4, 1).bytes, "w");
  EXPECT_EQ(ring.at(6, 100).bytes, "three");
}

TEST(OutputRing, DropsTheOldestAndItsNumbersGoOn) {
  OutputRing::Budget budget;
  OutputRing ring(40'000, budget);
  std::string all;
  for (int i = 0; i < 10'000; ++i) {
    const std::string line = std::to_string(i) + "\n";
    all += line;
    ring.append(Output::standard, line);
  }
  EXPECT_EQ(ring.next(), all.size());
  EXPECT_LE(ring.size(), 40'000u);
  EXPECT_GT(ring.size(), 20'000u);
  std::string kept;
  for (uint64_t at = ring.first(); at < ring.next(); at += ring.at(at, 777).bytes.size()) {
    kept += ring.at(at, 777).bytes;
  }
  EXPECT_EQ(kept, all.substr(ring.first()));
}

TEST(OutputRing, OnePieceMayBeLargerThanTheWholeRing) {
  OutputRing::Budget budget;
  OutputRing ring(1000, budget);
  ring.append(Output::standard, std::string(100'000, 'x') + "end");
  EXPECT_EQ(ring.next(), 100'003u);
  EXPECT_LE(ring.size(), 1000u);
}

TEST(OutputRing, ManyRingsShareABudget) {
  OutputRing::Budget budget{.most = 100'000};
  {
    OutputRing one(80'000, budget);
    OutputRing other(80'000, budget);
    one.append(Output::standard, std::string(80'000, '1'));
    other.append(Output::standard, std::string(80'000, '2'));
    EXPECT_LE(budget.used, 120'000u);
    EXPECT_EQ(budget.used, one.size() + other.size());
    EXPECT_GT(other.size(), 0u);
    one.clear();
    EXPECT_EQ(one.first(), 80'000u);
    EXPECT_EQ(one.next(), 80'000u);
  }
  EXPECT_EQ(budget.used, 0u);
}

}  // namespace
}  // namespace paddock::agent
