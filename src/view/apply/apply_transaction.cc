#include "view/apply/apply_transaction.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "base/strings.h"
#include "sys/fault_point.h"
#include "sys/files.h"
#include "sys/rename.h"
#include "sys/xattr.h"
#include "view/apply/apply_expect.h"
#include "view/apply/apply_slots.h"
#include "view/apply/apply_stage.h"
#include "view/changes/change_stack.h"

namespace paddock::view {
namespace {

using model::FileType;

Mismatch mismatch(const Op& op, std::string reason) {
  return {op.path, std::move(reason)};
}

// What a failed step says of the host, as far as the host is to blame.
std::optional<std::string> blame(const Error& error) {
  switch (error.code()) {
    case Code::not_found:
      return "it, or its directory, went away while it was applied";
    case Code::already_exists:
      return "the host has this name already, perhaps in another spelling";
    case Code::permission_denied:
      // A refused step of the kernel carries an errno, a symlink in the way does not.
      if (error.errno_value() == 0) return "a symlink took the place of one of its directories";
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

Result<Transaction> Transaction::open(const Journal& journal) {
  Result<sys::DirFd> host = sys::open_dir(journal.host.str());
  bool same = false;
  if (host.ok()) same = PD_TRY(examine_open(*host)).ino == journal.host_ino;
  if (!same) {
    return Error(Code::failed_precondition,
                 fmt::format("{} is not the tree any more that changes were being applied to",
                             printable(journal.host.str())))
        .set_remedy(fmt::format("put it back, or move {} away: it holds versions of its files",
                                printable(journal.stage.str())));
  }
  sys::DirFd stage = PD_TRY(sys::open_dir(journal.stage.str()));
  return Transaction(journal, std::move(*host), std::move(stage));
}

Result<std::optional<Mismatch>> Transaction::forward() {
  for (const Op& op : journal_.ops) {
    Found found = PD_TRY_CTX("applying " + printable(op.path), do_op(op));
    sys::fault_point("apply.op_done");
    if (found) return found;
  }
  // Once more: who had a file open may have written to it after it came out.
  for (const Op& op : journal_.ops) {
    Found found = PD_TRY_CTX("comparing " + printable(op.path), compare_out(op));
    if (found) return found;
  }
  return Found();
}

Result<Transaction::Found> Transaction::do_op(const Op& op) {
  if (op.kind == OpKind::set_directory) return set_directory(op, op.before, op.after);
  if (PD_TRY(slot_state(stage_, op)) == SlotState::not_done) {
    Result<sys::DirFd> parent = open_dir_in(host_, parent_of(op.path));
    Result<Found> done =
        parent.ok() ? do_rename(op, *parent) : Result<Found>(std::move(parent).error());
    if (!done.ok()) {
      std::optional<std::string> reason = blame(done.error());
      if (!reason) return done;
      return Found(mismatch(op, std::move(*reason)));
    }
    if (*done) return done;
  }
  sys::fault_point("apply.renamed");
  return compare_out(op);
}

Result<Transaction::Found> Transaction::do_rename(const Op& op, const sys::DirFd& parent) {
  std::string name = name_of(op.path), slot = slot_name(op.slot);
  if (op.kind == OpKind::create) {
    PD_TRY(sys::rename_new({stage_, slot}, {parent, name}));
  } else if (op.kind == OpKind::remove) {
    PD_TRY(sys::rename_new({parent, name}, {stage_, slot}));
  } else {
    PD_TRY(sys::exchange({stage_, slot}, {parent, name}));
  }
  return Found();
}

Result<Transaction::Found> Transaction::compare_out(const Op& op) {
  if (op.kind != OpKind::exchange && op.kind != OpKind::remove) return Found();
  Result<Match> match = matches(stage_, slot_name(op.slot), op.expected);
  if (!match.ok()) return std::move(match).error();
  if (*match == Match::no) return Found(mismatch(op, "the host changed it while it was applied"));
  if (op.expected.type != FileType::directory) return Found();
  sys::DirFd removed = PD_TRY(sys::open_dir_at(stage_, slot_name(op.slot)));
  if (PD_TRY(sys::list_dir(removed)).empty()) return Found();
  return Found(mismatch(op, "the host put something into it while it was applied"));
}

Result<Transaction::Found> Transaction::set_directory(const Op& op, const DirectoryState& from,
                                                      const DirectoryState& to) {
  Result<sys::DirFd> dir = open_dir_in(host_, op.path);
  if (!dir.ok()) {
    std::optional<std::string> reason = blame(dir.error());
    if (!reason) return std::move(dir).error();
    return Found(mismatch(op, std::move(*reason)));
  }
  Object object = PD_TRY(examine_open(*dir));
  DirectoryState now{object.state.mode, object.state.xattrs};
  if (now == to) return Found();
  // Between the two states lies what a cut left.
  bool known = (now.mode == from.mode || now.mode == to.mode) &&
               (now.xattrs == from.xattrs || from.xattrs != to.xattrs);
  if (!known) return Found(mismatch(op, "the host changed the directory while it was applied"));
  for (const auto& [name, value] : now.xattrs) {
    if (to.xattrs.count(name) == 0) PD_TRY(sys::remove_xattr(*dir, name));
  }
  for (const auto& [name, value] : to.xattrs) PD_TRY(sys::set_xattr(*dir, {name, value}));
  sys::fault_point("apply.attributes_set");
  if (::fchmod(dir->get(), to.mode) == 0) return Found();
  return Error::from_errno(errno, "changing the mode of a directory");
}

Status Transaction::sync() {
  std::set<std::string> directories;
  for (const Op& op : journal_.ops) {
    directories.insert(op.kind == OpKind::set_directory ? op.path : parent_of(op.path));
  }
  if (directories.size() > kMostSyncedSingly) return sys::sync_file_system(host_);
  for (const std::string& path : directories) {
    Result<sys::DirFd> dir = open_dir_in(host_, path);
    // Gone with a directory that was removed after its entries.
    if (!dir.ok()) continue;
    if (::fsync(dir->get()) != 0) return Error::from_errno(errno, "syncing " + printable(path));
  }
  if (::fsync(stage_.get()) != 0) return Error::from_errno(errno, "syncing the staging directory");
  return {};
}

}  // namespace paddock::view
