// Which ids a sandbox has, and how files of the host are shown under them. Pure.
//
// Started by a user: the one id, mapped to itself. Started by root: a private range of 65536 host
// ids that never reaches a disk, so that root inside is nobody outside; trees of the host are shown
// through id-mapped mounts, whose maps are the second half of this file.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace paddock::isolation::container {

// "`count` ids from `inside` are those from `outside`". For a mount, inside reads "on disk".
struct IdRange {
  uint32_t inside = 0;
  uint32_t outside = 0;
  uint32_t count = 0;
  bool operator==(const IdRange&) const = default;
};
using IdMap = std::vector<IdRange>;

inline constexpr uint32_t kIdsPerSandbox = 65536;
// Ids that no distribution, systemd or container manager gives out (systemd, UIDS-GIDS.md).
inline constexpr uint32_t kFirstPrivateId = 0x70000000;
inline constexpr uint32_t kPrivateRanges = 4096;
// Where files of the machine's root show up in a tree that belongs to somebody else. No user of any
// template has this id, so nothing inside can make a file that is root's on the host's disk.
inline constexpr uint32_t kHostRootShownAs = kIdsPerSandbox - 1;

constexpr uint32_t private_range_base(uint32_t range) {
  return kFirstPrivateId + range * kIdsPerSandbox;
}

// One id, mapped to itself.
IdMap single_id(uint32_t id);
// Ids 0 to 65535 inside, from `base` outside. As the map of a mount: every id as it is on disk.
IdMap private_range(uint32_t base);
// The same without kHostRootShownAs: for sandboxes in which somebody can become every id there is.
IdMap private_range_of_users(uint32_t base);
// The map of a mount that shows `owner` as `user` inside, and writes it back as `owner`. Nothing
// inside makes files of the host's root, unless that is the owner: what whoever mounts makes there
// (id 0) belongs to kHostRootShownAs on disk.
IdMap owner_as_user(uint32_t owner, uint32_t user, uint32_t base);

std::string format(const IdMap& map);

}  // namespace paddock::isolation::container
