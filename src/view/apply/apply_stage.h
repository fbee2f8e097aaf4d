// The staging directory: every object that an apply brings, complete and synced, before the host
// tree is touched.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"
#include "view/apply/apply_owner.h"
#include "view/apply/apply_plan.h"
#include "view/apply/apply_types.h"
#include "view/changes/change_compare.h"

namespace paddock::view {

// Beyond it one sync of the file system costs less.
inline constexpr size_t kMostSyncedSingly = 64;

class Stager {
 public:
  // All outlive the stager. `stage` is empty, private, and on the host tree's file system.
  Stager(const Comparison& comparison, const std::vector<Verdict>& verdicts,
         const sys::DirFd& stage)
      : comparison_(comparison),
        verdicts_(verdicts),
        stage_(stage),
        ownership_(comparison.stack.host()) {}

  // Makes what the plan's tasks want in the slots of their ops and notes in the ops what was made.
  // Synced when it returns. conflict when the host changes meanwhile.
  Status run(Plan& plan);

 private:
  Status make(Op& op, const Delta& delta, const Wanted& wanted);
  Status make_file(const Op& op, const Delta& delta, const Wanted& wanted);
  Status make_directory(const Op& op, const Wanted& wanted);
  Status make_symlink(const Op& op, const Wanted& wanted);
  Status fill(const sys::FileFd& fd, const Delta& delta, const Wanted& wanted);
  Status keep_times(const sys::FileFd& fd, const Delta& delta) const;
  Result<Ownership> ownership_for(const Op& op, const Delta& delta);
  // A further name of the inode that the delta's leader has.
  enum class Linked { no, yes };
  Result<Linked> make_link(const Op& op, const Delta& delta);

  enum class Sync { each, together };

  const Comparison& comparison_;
  const std::vector<Verdict>& verdicts_;
  const sys::DirFd& stage_;
  OwnershipOf ownership_;
  Sync sync_ = Sync::each;
  std::map<std::string, uint64_t> slots_;  // of staged files with the view's bytes, by path
};

}  // namespace paddock::view
