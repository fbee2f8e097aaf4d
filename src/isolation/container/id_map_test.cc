#include "isolation/container/id_map.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>

namespace paddock::isolation::container {
namespace {

constexpr uint32_t kBase = private_range_base(7);

std::optional<uint32_t> shown(const IdMap& map, uint32_t on_disk) {
  for (const IdRange& range : map) {
    if (on_disk >= range.inside && on_disk - range.inside < range.count) {
      return range.outside + (on_disk - range.inside);
    }
  }
  return std::nullopt;
}

void expect_one_to_one(const IdMap& map) {
  std::set<uint32_t> inside;
  std::set<uint32_t> outside;
  for (const IdRange& range : map) {
    ASSERT_GT(range.count, 0u);
    for (uint32_t i = 0; i < range.count; ++i) {
      EXPECT_TRUE(inside.insert(range.inside + i).second) << range.inside + i;
      EXPECT_TRUE(outside.insert(range.outside + i).second) << range.outside + i;
    }
  }
}

TEST(IdMap, PrivateRangesStayBelowTheSignBitAndAboveWhatOthersGiveOut) {
  EXPECT_EQ(private_range_base(0), 0x70000000u);
  EXPECT_EQ(private_range_base(kPrivateRanges - 1) + kIdsPerSandbox - 1, 0x7fffffffu);
}

TEST(IdMap, AUsersOnlyIdIsItself) {
  EXPECT_EQ(format(single_id(1000)), "1000 1000 1\n");
}

TEST(IdMap, TheOwnerOfAWorkspaceIsShownAsRootInside) {
  for (uint32_t owner : {1u, 2u, 1000u, 65533u, 65534u, 65535u, 65536u, 1200500u}) {
    IdMap map = owner_as_root(owner, kBase);
    EXPECT_EQ(shown(map, owner), kBase) << owner;
    expect_one_to_one(map);
  }
}

TEST(IdMap, NobodyInsideButTheUnusedIdWritesFilesOfTheHostsRoot) {
  for (uint32_t owner : {1u, 1000u, 65535u, 70000u}) {
    EXPECT_EQ(shown(owner_as_root(owner, kBase), 0), kBase + kHostRootShownAs) << owner;
  }
}

TEST(IdMap, OtherIdsOfAWorkspaceStayAsTheyAreOnDisk) {
  IdMap map = owner_as_root(1000, kBase);
  for (uint32_t id : {1u, 999u, 1001u, 65534u}) EXPECT_EQ(shown(map, id), kBase + id);
  EXPECT_EQ(shown(map, 65535), std::nullopt);
  EXPECT_EQ(shown(map, 70000), std::nullopt);
}

TEST(IdMap, AWorkspaceOfRootIsMappedLikeTheRootTrees) {
  EXPECT_EQ(owner_as_root(0, kBase), private_range(kBase));
}

}  // namespace
}  // namespace paddock::isolation::container
