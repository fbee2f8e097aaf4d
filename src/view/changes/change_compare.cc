#include "view/changes/change_compare.h"

#include <utility>

#include "base/strings.h"
#include "view/changes/change_links.h"
#include "view/host_exec/host_exec.h"

namespace paddock::view {
namespace {

using model::FileType;

enum class Same { yes, no };
// later: the host put it into a directory that the view had lost by then, so it is not the view's
// to delete.
enum class Came { before_the_view, later };

class Comparer {
 public:
  Comparer(const LayerStack& stack, Comparison& out)
      : stack_(stack), hold_back_({stack.host_exec, stack.host}), out_(out) {}

  Status run(Walked walked) {
    out_.skipped = std::move(walked.skipped);
    for (Touched& touched : walked.touched) {
      links_.note(touched);
      PD_TRY_CTX("comparing " + printable(touched.path), compare(touched));
    }
    links_.assign(out_.deltas);
    return {};
  }

 private:
  Status compare(Touched& touched) {
    Delta delta;
    delta.path = std::move(touched.path);
    delta.host = std::move(touched.host);
    delta.after = std::move(touched.after);
    delta.layer = touched.layer;
    if (!touched.hidden && find_base(touched, delta) == Came::later) return {};
    if (PD_TRY(is_same(delta)) == Same::yes) {
      if (delta.after.links > 1) links_.note_unchanged(delta.path);
    } else if (touched.git) {
      out_.git_paths.push_back(std::move(delta.path));
    } else {
      hold(touched, delta);
      out_.deltas.push_back(std::move(delta));
    }
    return {};
  }

  Came find_base(const Touched& touched, Delta& delta) const {
    const BaseRecord* record = touched.git ? nullptr : out_.bases.find(delta.path);
    if (record != nullptr && record->kind == BaseKind::state) {
      delta.record = record;
      delta.before = record->object;
      delta.base = BaseOf::recorded;
      return Came::before_the_view;
    }
    if (record == nullptr && !touched.git && out_.bases.implies_absent(delta.path)) {
      delta.base = BaseOf::recorded;
      return Came::before_the_view;
    }
    delta.before = delta.host;
    bool newer = record != nullptr || is_newer(touched, delta);
    delta.base = newer ? BaseOf::newer : BaseOf::assumed;
    bool later = newer || (record == nullptr && was_listed(parent_of(delta.path)));
    return touched.went_with_directory && later ? Came::later : Came::before_the_view;
  }

  bool is_newer(const Touched& touched, const Delta& delta) const {
    if (!delta.host.exists()) return touched.copied_up;
    return !delta.host.is(FileType::directory) && delta.host.ctime_ns > stack_.opened_ns;
  }

  // Records were made of everything that the directory, lost by the view, held then.
  bool was_listed(std::string path) const {
    for (; !path.empty(); path = parent_of(path)) {
      const BaseRecord* record = out_.bases.find(path);
      if (record != nullptr) return record->children == BaseChildren::listed;
    }
    return false;
  }

  Result<Same> is_same(Delta& delta) const {
    if (!same_but_bytes(delta.before.state, delta.after.state)) return Same::no;
    if (!delta.after.is(FileType::regular)) return Same::yes;
    if (delta.before.state.size != delta.after.state.size) return Same::no;
    if (delta.after.state.size == 0) return Same::yes;
    PD_TRY(out_.digest_before(delta));
    if (delta.before.state.digest.empty()) return Same::no;
    PD_TRY(out_.digest_after(delta));
    return delta.after.state.digest == delta.before.state.digest ? Same::yes : Same::no;
  }

  void hold(const Touched& touched, Delta& delta) {
    bool loses = delta.before.is(FileType::directory) && !delta.after.is(FileType::directory);
    if (touched.hidden && delta.after.exists()) {
      delta.hold = Hold::hidden;
      delta.held_reason = "the host has something of this name that was hidden from the sandbox";
    } else if (loses && out_.stack.hides_below(delta.path)) {
      delta.hold = Hold::hidden;
      delta.held_reason = "it holds files that were hidden from the sandbox";
    } else {
      delta.held_reason = hold_back_.reason(delta.path, delta.after.state);
      if (!delta.held_reason.empty()) delta.hold = Hold::host_exec;
    }
  }

  const LayerStack& stack_;
  HoldBack hold_back_;
  Comparison& out_;
  LinkGroups links_;
};

}  // namespace

Result<Comparison> compare_stack(const LayerStack& stack) {
  Comparison out;
  out.stack = PD_TRY(OpenStack::open(stack));
  Walked walked = PD_TRY(walk_stack(out.stack, NewDirectories::enter));
  if (walked.touched.empty() && walked.skipped.empty()) return out;
  out.bases = PD_TRY(Bases::load(stack.bases));
  PD_TRY(Comparer(stack, out).run(std::move(walked)));
  return out;
}

}  // namespace paddock::view
