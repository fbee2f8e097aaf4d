#include "isolation/container/id_map.h"

#include <fmt/core.h>

namespace paddock::isolation::container {
namespace {

// Ids [first, end) as they are on disk.
void add_identity(IdMap& map, uint32_t first, uint32_t end, uint32_t base) {
  if (first < end) map.push_back({first, base + first, end - first});
}

}  // namespace

IdMap single_id(uint32_t id) {
  return {{id, id, 1}};
}

IdMap private_range(uint32_t base) {
  return {{0, base, kIdsPerSandbox}};
}

IdMap private_range_of_users(uint32_t base) {
  return {{0, base, kHostRootShownAs}};
}

IdMap owner_as_root(uint32_t owner, uint32_t base) {
  if (owner == 0) return private_range(base);
  IdMap map{{0, base + kHostRootShownAs, 1}, {owner, base, 1}};
  if (owner < kHostRootShownAs) {
    add_identity(map, 1, owner, base);
    add_identity(map, owner + 1, kHostRootShownAs, base);
  } else {
    add_identity(map, 1, kHostRootShownAs, base);
  }
  return map;
}

std::string format(const IdMap& map) {
  std::string out;
  for (const IdRange& range : map) {
    out += fmt::format("{} {} {}\n", range.inside, range.outside, range.count);
  }
  return out;
}

}  // namespace paddock::isolation::container
