#include "view/changes/change_rename.h"

#include <map>
#include <string>
#include <utility>

namespace paddock::view {
namespace {

using model::FileType;

// Beyond this a file is not read only to say that it was renamed.
constexpr uint64_t kMaxRead = 1ull << 30;

struct Candidates {
  std::vector<size_t> deleted;
  std::vector<size_t> added;
};

std::map<uint64_t, Candidates> by_size(const std::vector<Delta>& deltas) {
  std::map<uint64_t, Candidates> sizes;
  for (size_t i = 0; i < deltas.size(); ++i) {
    const Delta& delta = deltas[i];
    if (delta.hold != Hold::none || !delta.link_of.empty()) continue;
    if (delta.before.is(FileType::regular) && !delta.after.exists()) {
      sizes[delta.before.state.size].deleted.push_back(i);
    } else if (!delta.before.exists() && delta.after.is(FileType::regular)) {
      sizes[delta.after.state.size].added.push_back(i);
    }
  }
  return sizes;
}

Status read_digests(Comparison& comparison, const Candidates& candidates) {
  for (size_t i : candidates.deleted) PD_TRY(comparison.digest_before(comparison.deltas[i]));
  for (size_t i : candidates.added) PD_TRY(comparison.digest_after(comparison.deltas[i]));
  return {};
}

class Pairing {
 public:
  explicit Pairing(const std::vector<Delta>& deltas)
      : deltas_(deltas), renamed_from_(deltas.size(), kNotRenamed), taken_(deltas.size()) {}

  void pair(const Candidates& candidates) {
    // Equal last names first: a moved directory keeps the names in it.
    pass(candidates, [](const std::string& path) { return name_of(path); });
    pass(candidates, [](const std::string&) { return std::string(); });
  }
  std::vector<size_t> take() { return std::move(renamed_from_); }

 private:
  template <typename Trait>
  void pass(const Candidates& candidates, Trait trait) {
    std::map<std::pair<std::string, std::string>, std::vector<size_t>> sources;
    for (auto from = candidates.deleted.rbegin(); from != candidates.deleted.rend(); ++from) {
      const Delta& delta = deltas_[*from];
      if (taken_[*from] || delta.before.state.digest.empty()) continue;
      sources[{delta.before.state.digest, trait(delta.path)}].push_back(*from);
    }
    for (size_t to : candidates.added) {
      if (renamed_from_[to] != kNotRenamed) continue;
      auto match = sources.find({deltas_[to].after.state.digest, trait(deltas_[to].path)});
      if (match == sources.end() || match->second.empty()) continue;
      renamed_from_[to] = match->second.back();
      taken_[match->second.back()] = true;
      match->second.pop_back();
    }
  }

  const std::vector<Delta>& deltas_;
  std::vector<size_t> renamed_from_;
  std::vector<bool> taken_;
};

}  // namespace

Result<std::vector<size_t>> find_renames(Comparison& comparison) {
  Pairing pairing(comparison.deltas);
  for (const auto& [size, candidates] : by_size(comparison.deltas)) {
    if (size == 0 || size > kMaxRead || candidates.deleted.empty() || candidates.added.empty()) {
      continue;
    }
    PD_TRY(read_digests(comparison, candidates));
    pairing.pair(candidates);
  }
  return pairing.take();
}

}  // namespace paddock::view
