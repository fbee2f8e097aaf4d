#include <fcntl.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "base/strings.h"
#include "sys/digest.h"
#include "sys/files.h"
#include "view/bases/base_keep.h"
#include "view/bases/base_store.h"
#include "view/changes.h"
#include "view/changes/change_stack.h"
#include "view/changes/change_walk.h"

namespace paddock::view {
namespace {

using model::FileType;

// A directory that was lost, or whose lower entries were: its children get records of their own.
bool loses_entries(const Touched& touched) {
  return touched.host.is(FileType::directory) && !touched.after.is(FileType::directory);
}

class Capture {
 public:
  Capture(const LayerStack& stack, const OpenStack& open, const Bases& bases)
      : stack_(stack), open_(open), bases_(bases) {}

  Status run(const Walked& walked) {
    for (const Touched& touched : walked.touched) {
      if (touched.git || open_.hidden_root(touched.path)) continue;
      PD_TRY_CTX("keeping the base of " + printable(touched.path), record(touched));
    }
    return writer_ ? writer_->publish() : Status();
  }

 private:
  Status record(const Touched& touched) {
    if (const BaseRecord* known = bases_.find(touched.path)) return complete(touched, *known);
    if (bases_.implies_absent(touched.path)) return {};
    BaseRecord record;
    record.object = touched.host;
    if (loses_entries(touched)) record.children = BaseChildren::listed;
    if (is_newer(touched)) record.kind = BaseKind::newer;
    BaseWriter& writer = *PD_TRY(writer_for_this_capture());
    if (record.kind == BaseKind::state && touched.host.is(FileType::regular)) {
      KeepBytes keep = touched.after.exists() ? KeepBytes::yes : KeepBytes::no;
      PD_TRY(keeper_.keep(open_.host(), touched.path, keep, writer, record));
    }
    writer.add(touched.path, record);
    return {};
  }

  // The directory was known and is lost by now.
  Status complete(const Touched& touched, const BaseRecord& known) {
    if (!loses_entries(touched) || known.children == BaseChildren::listed) return {};
    BaseRecord record = known;
    record.children = BaseChildren::listed;
    PD_TRY(writer_for_this_capture())->add(touched.path, record);
    return {};
  }

  // A directory's own times tell of its entries, which have records of their own. What overlayfs
  // copied up and the host has no more was removed meanwhile.
  bool is_newer(const Touched& touched) const {
    if (!touched.host.exists()) return touched.copied_up && touched.after.exists();
    return !touched.host.is(FileType::directory) && touched.host.ctime_ns > stack_.opened_ns;
  }

  Result<BaseWriter*> writer_for_this_capture() {
    if (!writer_) writer_.emplace(PD_TRY(BaseWriter::create(stack_.bases, SegmentRole::add)));
    return &*writer_;
  }

  const LayerStack& stack_;
  const OpenStack& open_;
  const Bases& bases_;
  BaseKeeper keeper_;
  std::optional<BaseWriter> writer_;
};

}  // namespace

Status capture_bases(const LayerStack& stack) {
  OpenStack open = PD_TRY(OpenStack::open(stack));
  Walked walked = PD_TRY(walk_stack(open, NewDirectories::stop));
  if (walked.touched.empty()) return {};
  Bases bases = PD_TRY(Bases::load(stack.bases));
  return Capture(stack, open, bases).run(walked);
}

Status prune_bases(const LayerStack& stack) {
  OpenStack open = PD_TRY(OpenStack::open(stack));
  Walked walked = PD_TRY(walk_stack(open, NewDirectories::stop));
  Bases bases = PD_TRY(Bases::load(stack.bases));
  if (bases.segment_count() == 0) return {};
  BaseWriter writer = PD_TRY(BaseWriter::create(stack.bases, SegmentRole::replace));
  for (const Touched& touched : walked.touched) {
    const BaseRecord* known = bases.find(touched.path);
    if (known == nullptr) continue;
    BaseRecord record = *known;
    if (record.blob_at) {
      std::string bytes = PD_TRY(bases.read_blob(record, record.object.state.size));
      record.blob_at = PD_TRY(writer.write_blob(bytes));
    }
    writer.add(touched.path, record);
  }
  return writer.publish();
}

}  // namespace paddock::view
