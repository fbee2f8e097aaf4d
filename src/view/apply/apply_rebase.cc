#include "view/apply/apply_rebase.h"

#include "sys/files.h"
#include "view/bases/base_keep.h"
#include "view/bases/base_store.h"

namespace paddock::view {
namespace {

constexpr uint64_t kMaxRebasedFile = 16u << 20;
constexpr uint64_t kMaxRebased = 128u << 20;

class Rebase {
 public:
  Rebase(Comparison& comparison, BaseWriter& writer, KeepBytes keep)
      : comparison_(comparison), writer_(writer), keep_(keep) {}

  Status add(Delta& delta) {
    BaseRecord record;
    if (delta.after.is(model::FileType::regular)) {
      PD_TRY(comparison_.digest_after(delta));
      if (keep_ == KeepBytes::yes) PD_TRY(keep_bytes(delta, record));
    }
    record.object.state = delta.after.state;  // no inode: only the digest tells
    writer_.add(delta.path, record);
    return {};
  }

 private:
  Status keep_bytes(const Delta& delta, BaseRecord& record) {
    sys::FileFd fd = PD_TRY(comparison_.open_after(delta));
    record.blob_at = PD_TRY(writer_.clone_blob(fd));
    uint64_t size = delta.after.state.size;
    if (record.blob_at || size > kMaxRebasedFile || stored_ + size > kMaxRebased) return {};
    stored_ += size;
    std::string bytes = PD_TRY(sys::read_all(fd, kMaxRebasedFile));
    record.blob_at = PD_TRY(writer_.write_blob(bytes));
    return {};
  }

  Comparison& comparison_;
  BaseWriter& writer_;
  KeepBytes keep_;
  uint64_t stored_ = 0;
};

bool is_settled(Selected selected, const Verdict& verdict) {
  return selected != Selected::no && verdict.result != ApplyResult::held;
}

}  // namespace

Result<std::string> park_rebase(const model::HostPath& bases, Comparison& comparison,
                                const std::vector<Selected>& selected,
                                const std::vector<Verdict>& verdicts) {
  size_t settled = 0;
  for (size_t i = 0; i < verdicts.size(); ++i) settled += is_settled(selected[i], verdicts[i]);
  if (settled == 0) return std::string();
  BaseWriter writer = PD_TRY(BaseWriter::create(bases, SegmentRole::add));
  KeepBytes keep = settled == verdicts.size() ? KeepBytes::no : KeepBytes::yes;
  Rebase rebase(comparison, writer, keep);
  for (size_t i = 0; i < verdicts.size(); ++i) {
    if (is_settled(selected[i], verdicts[i])) PD_TRY(rebase.add(comparison.deltas[i]));
  }
  return writer.park();
}

}  // namespace paddock::view
