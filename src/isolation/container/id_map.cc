#include "isolation/container/id_map.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

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

IdMap owner_as_user(uint32_t owner, uint32_t user, uint32_t base) {
  // Pairs of ids that change places; the others are as on disk.
  std::map<uint32_t, uint32_t> inside{{owner, user}};
  auto show = [&](uint32_t on_disk, uint32_t as) {
    const bool is_taken =
        inside.contains(on_disk) ||
        std::ranges::any_of(inside, [&](const auto& pair) { return pair.second == as; });
    if (!is_taken && as < kIdsPerSandbox) inside.emplace(on_disk, as);
  };
  if (owner == user && user == 0) return private_range(base);
  show(0, kHostRootShownAs);
  if (user != 0) show(owner == kHostRootShownAs ? user : kHostRootShownAs, 0);
  if (user != 0) show(user, owner == 0 ? kHostRootShownAs : owner);
  IdMap map;
  for (const auto& [on_disk, as] : inside) map.push_back({on_disk, base + as, 1});
  std::set<uint32_t> special{0, owner, user, kHostRootShownAs};
  uint32_t first = 0;
  for (const uint32_t id : special) {
    add_identity(map, first, std::min(id, kHostRootShownAs), base);
    first = id + 1;
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
