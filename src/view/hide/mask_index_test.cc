#include "view/hide/mask_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paddock::view {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// ws/{a/{b/{.env}}, c/{}, x.pem}
MaskIndex sample() {
  MaskIndex index;
  index.names = "abc.envx.pem";
  index.hidden = {{7, 5}, {3, 4}};
  index.dirs = {{{1, 2, 3, 4}, {0, 0}, 3, 0, 1, 1},
                {{1, 5, 6, 7}, {0, 1}, 1, 1, 0, 1},
                {{1, 8, 9, 10}, {1, 1}, 0, 1, 1, 1},
                {{1, 11, 12, 13}, {2, 1}, 0, 2, 0, 0}};
  return index;
}

TEST(MaskIndex, ComesBackAsItWasWritten) {
  EXPECT_EQ(decode_mask_index(encode(sample())).value(), sample());
  EXPECT_THAT(hidden_paths(sample()), ElementsAre("a/b/.env", "x.pem"));
}

TEST(MaskIndex, EveryDamagedBitIsSeen) {
  std::string good = encode(sample());
  for (size_t byte = 0; byte < good.size(); ++byte) {
    std::string bad = good;
    bad[byte] = static_cast<char>(bad[byte] ^ (1 << (byte % 8)));
    EXPECT_FALSE(decode_mask_index(bad).ok()) << byte;
  }
}

TEST(MaskIndex, EveryCutIsSeen) {
  std::string good = encode(sample());
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(decode_mask_index(good.substr(0, length)).ok()) << length;
  }
  EXPECT_FALSE(decode_mask_index(good + "x").ok());
}

// A file with a right checksum and wrong numbers: written by a bug, read without harm.
TEST(MaskIndex, NumbersOutOfRangeAreRefused) {
  auto refused = [](const std::function<void(MaskIndex&)>& spoil) {
    MaskIndex index = sample();
    spoil(index);
    return !decode_mask_index(encode(index)).ok();
  };
  EXPECT_FALSE(refused([](MaskIndex&) {}));
  EXPECT_TRUE(refused([](MaskIndex& index) { index.dirs[0].descendants = 4; }));
  EXPECT_TRUE(refused([](MaskIndex& index) { index.dirs[0].descendants = 2; }))
      << "one is outside of the root";
  EXPECT_TRUE(refused([](MaskIndex& index) { index.dirs[2].descendants = 1; }))
      << "reaches out of its parent";
  EXPECT_TRUE(refused([](MaskIndex& index) { index.dirs[1].name = {0, 100}; }));
  EXPECT_TRUE(refused([](MaskIndex& index) { index.dirs[1].name = {0xffffffff, 2}; }));
  EXPECT_TRUE(refused([](MaskIndex& index) { index.hidden[0] = {12, 1}; }));
  EXPECT_TRUE(refused([](MaskIndex& index) { index.dirs[2].first_hidden = 2; }));
  EXPECT_TRUE(refused([](MaskIndex& index) { index.dirs[2].hidden_count = 0xffffffff; }));
  EXPECT_TRUE(refused([](MaskIndex& index) { index.dirs.clear(); }));
}

}  // namespace
}  // namespace paddock::view
