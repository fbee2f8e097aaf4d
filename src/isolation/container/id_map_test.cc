#include "isolation/container/id_map.h"

#include <gtest/gtest.h>

#include <optional>

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

bool overlap(uint32_t first_a, uint32_t first_b, uint32_t count_a, uint32_t count_b) {
  return first_a < first_b + count_b && first_b < first_a + count_a;
}

void expect_one_to_one(const IdMap& map) {
  for (size_t i = 0; i < map.size(); ++i) {
    EXPECT_GT(map[i].count, 0u);
    for (size_t j = 0; j < i; ++j) {
      EXPECT_FALSE(overlap(map[i].inside, map[j].inside, map[i].count, map[j].count))
          << format(map);
      EXPECT_FALSE(overlap(map[i].outside, map[j].outside, map[i].count, map[j].count))
          << format(map);
    }
  }
}

TEST(IdMap, WhoCanBecomeEveryUserCannotBecomeTheHostsRoot) {
  const IdMap map = private_range_of_users(1000000);
  ASSERT_EQ(map.size(), 1u);
  EXPECT_EQ(map[0].inside + map[0].count, kHostRootShownAs);
  // A mount that shows the host's root to such a sandbox shows it outside that range.
  const IdMap mount = owner_as_user(1000, 0, 1000000);
  EXPECT_EQ(mount[0], (IdRange{0, 1000000 + kHostRootShownAs, 1}));
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
    IdMap map = owner_as_user(owner, 0, kBase);
    EXPECT_EQ(shown(map, owner), kBase) << owner;
    expect_one_to_one(map);
  }
}

TEST(IdMap, NobodyInsideButTheUnusedIdWritesFilesOfTheHostsRoot) {
  for (uint32_t owner : {1u, 1000u, 65535u, 70000u}) {
    EXPECT_EQ(shown(owner_as_user(owner, 0, kBase), 0), kBase + kHostRootShownAs) << owner;
  }
}

TEST(IdMap, OtherIdsOfAWorkspaceStayAsTheyAreOnDisk) {
  IdMap map = owner_as_user(1000, 0, kBase);
  for (uint32_t id : {1u, 999u, 1001u, 65534u}) EXPECT_EQ(shown(map, id), kBase + id);
  EXPECT_EQ(shown(map, 65535), std::nullopt);
  EXPECT_EQ(shown(map, 70000), std::nullopt);
}

TEST(IdMap, AWorkspaceOfRootIsMappedLikeTheRootTrees) {
  EXPECT_EQ(owner_as_user(0, 0, kBase), private_range(kBase));
}

TEST(IdMap, TheOwnerOfAWorkspaceIsShownAsTheUserInside) {
  for (uint32_t owner : {0u, 1u, 33u, 999u, 1000u, 1001u, 65534u, 65535u, 65536u, 1200500u}) {
    const IdMap map = owner_as_user(owner, 1000, kBase);
    EXPECT_EQ(shown(map, owner), kBase + 1000) << owner;
    expect_one_to_one(map);
    if (owner != 0) {
      EXPECT_EQ(shown(map, 0), kBase + kHostRootShownAs) << owner;
    }
    EXPECT_EQ(shown(map, 500), kBase + 500) << owner;
  }
}

// Whoever mounts an overlay makes its work directory: as somebody who has an id on disk.
TEST(IdMap, WhoMountsHasAnIdOnDiskThatIsNotTheHostsRoot) {
  for (uint32_t owner : {0u, 33u, 1000u, 70000u}) {
    EXPECT_EQ(shown(owner_as_user(owner, 1000, kBase), kHostRootShownAs), kBase) << owner;
  }
}

TEST(IdMap, SomebodyElseWithTheUsersIdOnDiskIsNotTheUser) {
  EXPECT_EQ(shown(owner_as_user(33, 1000, kBase), 1000), kBase + 33);
  EXPECT_EQ(shown(owner_as_user(0, 1000, kBase), 1000), kBase + kHostRootShownAs);
  EXPECT_EQ(shown(owner_as_user(70000, 1000, kBase), 1000), std::nullopt);
}

}  // namespace
}  // namespace paddock::isolation::container
