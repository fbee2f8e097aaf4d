#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "sys/digest.h"
#include "sys/fault_point.h"
#include "sys/files.h"
#include "sys/mount_id.h"
#include "sys/random.h"
#include "view/apply/apply_check.h"
#include "view/apply/apply_complete.h"
#include "view/apply/apply_journal.h"
#include "view/apply/apply_plan.h"
#include "view/apply/apply_rebase.h"
#include "view/apply/apply_select.h"
#include "view/apply/apply_stage.h"
#include "view/changes.h"
#include "view/changes/change_compare.h"

namespace paddock::view {
namespace {

class Apply {
 public:
  Apply(const LayerStack& stack, const ApplyOptions& options, const ApplySite& site)
      : stack_(stack), options_(options), site_(site), dir_(site.journal_dir) {}

  // The caller holds the lock, and nothing is left of an earlier apply.
  Result<ApplyReport> run() {
    comparison_ = PD_TRY(compare_stack(stack_));
    settle_holds(comparison_.deltas, options_.host_exec);
    selected_ = PD_TRY(select_deltas(comparison_.deltas, options_.paths));
    PD_TRY(check());
    Plan plan = PD_TRY(plan_apply(comparison_, selected_, verdicts_));
    ApplyReport report = make_report();
    bool writes =
        options_.writes == Writes::perform && !report.has_conflict && !comparison_.deltas.empty();
    if (!writes) return report;
    Result<Completion> completion = write(std::move(plan));
    if (!completion.ok()) {
      // Before the commit point nothing but our own staging is there to remove; past it, the
      // journal says what is left to do, and nothing is removed.
      bool committed = sys::exists((dir_.path() / "journal").str());
      if (!committed) PD_TRY(dir_.remove_leftovers());
      return std::move(completion).error();
    }
    if (completion->mismatch) add_mismatch(*completion, report);
    return report;
  }

 private:
  Status check() {
    TextMerger merger(dir_.merge_scratch());
    verdicts_.resize(comparison_.deltas.size());
    for (size_t i = 0; i < verdicts_.size(); ++i) {
      Delta& delta = comparison_.deltas[i];
      if (delta.hold != Hold::none) {
        verdicts_[i] = {ApplyResult::held, delta.held_reason, {}};
      } else if (selected_[i] != Selected::no) {
        verdicts_[i] = PD_TRY_CTX("checking " + printable(delta.path),
                                  check_delta(comparison_, delta, merger));
      }
    }
    return {};
  }

  ApplyReport make_report() const {
    ApplyReport report;
    std::vector<Listed> listed = listed_deltas(comparison_.deltas);
    for (size_t i = 0; i < verdicts_.size(); ++i) {
      if (selected_[i] == Selected::no) continue;
      const Verdict& verdict = verdicts_[i];
      report.has_conflict = report.has_conflict || verdict.result == ApplyResult::conflict;
      bool asked_for = selected_[i] == Selected::yes && listed[i] == Listed::yes;
      if (!asked_for && verdict.reason.empty()) continue;
      report.paths.push_back({comparison_.deltas[i].path, verdict.result, verdict.reason});
    }
    return report;
  }

  static void add_mismatch(const Completion& completion, ApplyReport& report) {
    AppliedPath conflict{completion.mismatch->path, ApplyResult::conflict,
                         completion.mismatch->reason};
    if (!completion.kept.empty()) {
      conflict.reason += "; the version from before is kept in " + completion.kept.str();
    }
    report.has_conflict = true;
    for (AppliedPath& path : report.paths) {
      if (path.path != conflict.path) continue;
      path = conflict;
      return;
    }
    report.paths.push_back(std::move(conflict));
  }

  Result<Completion> write(Plan plan) {
    Journal journal;
    journal.tag = site_.tag;
    journal.host = stack_.host;
    journal.host_ino = PD_TRY(examine_open(comparison_.stack.host())).ino;
    journal.bases = stack_.bases;
    journal.stage = PD_TRY(choose_stage());
    bool in_workspace = journal.stage != dir_.stage();
    PD_TRY(dir_.write_intent({stack_.bases, in_workspace ? journal.stage : model::HostPath()}));
    sys::fault_point("apply.intent_written");
    if (!plan.ops.empty()) PD_TRY(stage(journal.stage, plan));
    journal.rebase = PD_TRY(park_rebase(stack_.bases, comparison_, selected_, verdicts_));
    sys::fault_point("apply.staged");
    if (plan.ops.empty()) {
      PD_TRY(publish_parked(journal.bases, journal.rebase));
      PD_TRY(dir_.remove_leftovers());
      return Completion();
    }
    journal.ops = std::move(plan.ops);
    Status committed = dir_.commit(journal);
    if (!committed.ok()) {
      // It may be there and not be durable. No op was done, so it can simply go.
      PD_TRY(dir_.remove_journal());
      PD_TRY(remove_parked(journal.bases, journal.rebase));
      return std::move(committed).with_context("committing the journal").error();
    }
    sys::fault_point("apply.committed");
    return complete_apply(dir_, journal);
  }

  // Beside the journal where renames from there reach the host tree, else inside of the tree.
  Result<model::HostPath> choose_stage() const {
    sys::DirFd ours = PD_TRY(sys::open_dir(dir_.path().str()));
    if (PD_TRY(renames_reach(ours, comparison_.stack.host()))) return dir_.stage();
    std::string id = sys::sha256_hex(sys::random_bytes(16)).substr(0, 16);
    return stack_.host / (".paddock-apply-" + id);
  }

  Status stage(const model::HostPath& path, Plan& plan) const {
    if (::mkdir(path.c_str(), 0700) != 0) {
      return Error::from_errno(errno, "making directory " + printable(path.str()));
    }
    sys::DirFd dir = PD_TRY(sys::open_dir(path.str()));
    return Stager(comparison_, verdicts_, dir).run(plan);
  }

  static Result<bool> renames_reach(const sys::DirFd& from, const sys::DirFd& to) {
    struct stat a {
    }, b{};
    if (::fstat(from.get(), &a) != 0 || ::fstat(to.get(), &b) != 0) {
      return Error::from_errno(errno, "examining a directory");
    }
    if (a.st_dev != b.st_dev) return false;
    uint64_t mount_of_from = PD_TRY(sys::mount_id(from));
    return mount_of_from == PD_TRY(sys::mount_id(to));
  }

  const LayerStack& stack_;
  const ApplyOptions& options_;
  const ApplySite& site_;
  JournalDir dir_;
  Comparison comparison_;
  std::vector<Selected> selected_;
  std::vector<Verdict> verdicts_;
};

}  // namespace

Result<ApplyReport> apply_changes(const LayerStack& stack, const ApplyOptions& options,
                                  const ApplySite& site) {
  JournalDir dir(site.journal_dir);
  sys::FileFd lock = PD_TRY(dir.lock());
  PD_TRY_CTX("recovering an apply that was cut", recover_locked(dir));
  return Apply(stack, options, site).run();
}

}  // namespace paddock::view
