#include "view/apply/apply_stage.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/strings.h"
#include "sys/copy.h"
#include "sys/digest.h"
#include "sys/fault_point.h"
#include "sys/files.h"
#include "sys/rename.h"
#include "view/apply/apply_expect.h"
#include "view/apply/apply_slots.h"

namespace paddock::view {
namespace {

using model::FileType;

Error fail(const char* doing) {
  return Error::from_errno(errno, doing);
}

Status sync_fd(const sys::Fd& fd) {
  if (::fsync(fd.get()) == 0) return {};
  return fail("syncing a staged file");
}

}  // namespace

Status Stager::run(Plan& plan) {
  sync_ = plan.tasks.size() > kMostSyncedSingly ? Sync::together : Sync::each;
  for (const StageTask& task : plan.tasks) {
    const Delta& delta = comparison_.deltas[task.delta];
    PD_TRY_CTX("staging " + printable(delta.path),
               make(plan.ops[task.op], delta, *verdicts_[task.delta].wanted));
    sys::fault_point("apply.staged_one");
  }
  return sync_ == Sync::each ? sync_fd(stage_) : sys::sync_file_system(stage_);
}

Status Stager::make(Op& op, const Delta& delta, const Wanted& wanted) {
  if (wanted.state.type == FileType::directory) {
    PD_TRY(make_directory(op, wanted));
  } else if (wanted.state.type == FileType::symlink) {
    PD_TRY(make_symlink(op, wanted));
  } else {
    PD_TRY(make_file(op, delta, wanted));
  }
  op.staged = expected_of(PD_TRY(examine(stage_, slot_name(op.slot))));
  return {};
}

Status Stager::make_file(const Op& op, const Delta& delta, const Wanted& wanted) {
  bool from_view = wanted.content == Content::view;
  if (from_view && PD_TRY(make_link(op, delta)) == Linked::yes) return {};
  std::string name = slot_name(op.slot);
  sys::FileFd fd(
      PD_TRY(sys::open_beneath(stage_, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600)));
  PD_TRY(fill(fd, delta, wanted));
  Ownership ownership = PD_TRY(ownership_for(op, delta));
  PD_TRY(give(fd, ownership, wanted.state));
  if (wanted.content == Content::host) PD_TRY(keep_times(fd, delta));
  if (from_view) slots_[delta.path] = op.slot;
  return sync_ == Sync::each ? sync_fd(fd) : Status();
}

Status Stager::fill(const sys::FileFd& fd, const Delta& delta, const Wanted& wanted) {
  if (wanted.content == Content::merged) return sys::write_all(fd, wanted.merged);
  if (wanted.content == Content::view) {
    sys::FileFd from = PD_TRY(comparison_.open_after(delta));
    return sys::copy_contents(from, fd);
  }
  sys::FileFd from = PD_TRY(open_regular(comparison_.stack.host(), delta.path));
  return sys::copy_contents(from, fd);
}

// The bytes are the host's own: so is the time they were written.
Status Stager::keep_times(const sys::FileFd& fd, const Delta& delta) const {
  struct timespec modified {};
  modified.tv_sec = delta.host.mtime_ns / 1'000'000'000;
  modified.tv_nsec = delta.host.mtime_ns % 1'000'000'000;
  struct timespec now {};
  now.tv_nsec = UTIME_OMIT;
  const struct timespec times[2] = {now, modified};
  if (::futimens(fd.get(), times) != 0) return fail("keeping a file's times");
  return {};
}

Result<Ownership> Stager::ownership_for(const Op& op, const Delta& delta) {
  if (op.kind == OpKind::exchange) return ownership_.replaced(delta.path, delta.host);
  return ownership_.made(delta.path, FileType::regular);
}

Status Stager::make_directory(const Op& op, const Wanted& wanted) {
  std::string name = slot_name(op.slot);
  if (::mkdirat(stage_.get(), name.c_str(), 0700) != 0) return fail("making a directory");
  sys::DirFd fd = PD_TRY(sys::open_dir_at(stage_, name));
  model::FileState state = wanted.state;
  state.mode |= 0700;  // it is filled first; the plan gives it its last mode
  Ownership ownership = PD_TRY(ownership_.made(op.path, FileType::directory));
  PD_TRY(give(fd, ownership, state));
  return sync_ == Sync::each ? sync_fd(fd) : Status();
}

Status Stager::make_symlink(const Op& op, const Wanted& wanted) {
  std::string name = slot_name(op.slot);
  if (::symlinkat(wanted.state.target.c_str(), stage_.get(), name.c_str()) != 0) {
    return fail("making a link");
  }
  Ownership ownership = PD_TRY(ownership_.made(op.path, FileType::symlink));
  bool ours = ownership.uid == ::geteuid() && ownership.gid == ::getegid();
  if (!ours && ::fchownat(stage_.get(), name.c_str(), ownership.uid, ownership.gid,
                          AT_SYMLINK_NOFOLLOW) != 0) {
    return fail("giving a link its owner");
  }
  return {};
}

Result<Stager::Linked> Stager::make_link(const Op& op, const Delta& delta) {
  if (delta.link_of.empty()) return Linked::no;
  std::string name = slot_name(op.slot);
  auto staged = slots_.find(delta.link_of);
  if (staged != slots_.end()) {
    std::string leader = slot_name(staged->second);
    return ::linkat(stage_.get(), leader.c_str(), stage_.get(), name.c_str(), 0) == 0 ? Linked::yes
                                                                                      : Linked::no;
  }
  // The leader is a file of the host that the view left alone.
  const sys::DirFd& host = comparison_.stack.host();
  Result<sys::DirFd> parent = open_dir_in(host, parent_of(delta.link_of));
  if (!parent.ok()) return Linked::no;
  Object leader = PD_TRY(examine(*parent, name_of(delta.link_of)));
  if (!same_but_bytes(leader.state, delta.after.state) || leader.ino == delta.host.ino ||
      leader.state.size != delta.after.state.size) {
    return Linked::no;
  }
  std::string leader_name = name_of(delta.link_of);
  if (::linkat(parent->get(), leader_name.c_str(), stage_.get(), name.c_str(), 0) != 0) {
    return Linked::no;
  }
  sys::FileFd linked = PD_TRY(open_regular(stage_, name));
  sys::FileFd wanted = PD_TRY(comparison_.open_after(delta));
  std::string digest = PD_TRY(sys::sha256_hex(wanted));
  if (PD_TRY(sys::sha256_hex(linked)) == digest) return Linked::yes;
  ::unlinkat(stage_.get(), name.c_str(), 0);
  return Linked::no;
}

}  // namespace paddock::view
