#include <unordered_set>
#include <utility>

#include "base/strings.h"
#include "view/changes.h"
#include "view/changes/change_compare.h"
#include "view/changes/change_lines.h"
#include "view/changes/change_rename.h"

namespace paddock::view {
namespace {

using model::Change;
using model::ChangeKind;
using model::FileType;

constexpr uint64_t kMaxText = 16u << 20;  // beyond it a file counts as binary

Change change_of(const Delta& delta) {
  Change change;
  change.path = delta.path;
  change.kind = !delta.before.exists()  ? ChangeKind::added
                : !delta.after.exists() ? ChangeKind::deleted
                                        : ChangeKind::modified;
  change.before = delta.before.state;
  change.after = delta.after.state;
  change.held_reason = delta.held_reason;
  change.link_of = delta.link_of;
  return change;
}

// Both sides must be had: what the base was may be lost, then the counts stay at zero.
Status count_lines(const Comparison& comparison, const Delta& from, const Delta& to,
                   Change& change) {
  bool large = change.before.size > kMaxText || change.after.size > kMaxText;
  bool text = change.before.type == FileType::regular || change.after.type == FileType::regular;
  if (!text) return {};
  if (large) {
    change.binary = true;
    return {};
  }
  Result<std::string> before = comparison.before_bytes(from, kMaxText);
  if (!before.ok()) return {};
  std::string after = PD_TRY(comparison.after_bytes(to, kMaxText));
  change.binary = is_binary(*before) || is_binary(after);
  if (change.binary) return {};
  LineDiff diff = diff_lines(*before, after);
  change.added_lines = diff.added;
  change.deleted_lines = diff.deleted;
  return {};
}

Result<std::vector<Change>> list_changes(Comparison& comparison, LineCounts lines) {
  const std::vector<Delta>& deltas = comparison.deltas;
  std::vector<size_t> renamed_from = PD_TRY(find_renames(comparison));
  std::unordered_set<size_t> gone(renamed_from.begin(), renamed_from.end());
  std::vector<Listed> listed = listed_deltas(deltas);
  std::vector<Change> changes;
  for (size_t i = 0; i < deltas.size(); ++i) {
    if (listed[i] == Listed::no || gone.count(i) > 0) continue;
    Change change = change_of(deltas[i]);
    const Delta& from = renamed_from[i] == kNotRenamed ? deltas[i] : deltas[renamed_from[i]];
    if (renamed_from[i] != kNotRenamed) {
      change.kind = ChangeKind::renamed;
      change.from = from.path;
      change.before = from.before.state;
    }
    if (lines == LineCounts::count) {
      PD_TRY_CTX("counting lines of " + printable(change.path),
                 count_lines(comparison, from, deltas[i], change));
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace

std::vector<Listed> listed_deltas(const std::vector<Delta>& deltas) {
  // Held directories say why, and one that changed its type or itself stands for itself.
  auto stands_alone = [](const Delta& delta) {
    bool comes_or_goes = !delta.before.exists() || !delta.after.exists();
    return !delta.is_directory() || !comes_or_goes || delta.hold == Hold::hidden;
  };
  std::unordered_set<std::string> implied;
  std::vector<Listed> listed(deltas.size(), Listed::no);
  for (size_t i = deltas.size(); i-- > 0;) {  // children before their directories
    if (!stands_alone(deltas[i]) && implied.count(deltas[i].path) > 0) continue;
    listed[i] = Listed::yes;
    for (std::string above = parent_of(deltas[i].path); !above.empty(); above = parent_of(above)) {
      if (!implied.insert(above).second) break;
    }
  }
  return listed;
}

Result<model::ChangeSet> compute_changes(const LayerStack& stack, LineCounts lines) {
  Comparison comparison = PD_TRY(compare_stack(stack));
  model::ChangeSet set;
  set.changes = PD_TRY(list_changes(comparison, lines));
  set.git_paths = std::move(comparison.git_paths);
  set.skipped = std::move(comparison.skipped);
  return set;
}

}  // namespace paddock::view
