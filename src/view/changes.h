// What a stack of layers changed against the host directory below it, and how that comes back:
// change set, patch, three-way apply, commits. Works on directories alone, without mounts or
// catalogue, so that every rule is testable on plain trees.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/change.h"
#include "model/paths.h"
#include "view/workspace.h"

namespace paddock::view {

// One tree of a view. Overlay conventions in the layers: a deletion is a character device 0:0, a
// directory whose lower content is gone carries the xattr user.overlay.opaque=y.
struct LayerStack {
  std::vector<model::HostPath> layers;  // sealed uppers, newest first; may be empty
  model::HostPath host;                 // the live host directory
  model::HostPath bases;               // this tree's own: base versions, scratch; may not exist yet
  std::vector<std::string> hidden;     // relative paths of the host that were masked from the view
  std::vector<std::string> host_exec;  // further globs to hold back at apply
  // Wall clock before the oldest command whose bases are not captured yet (the command that runs,
  // or the first one after the last capture when commands were killed).
  int64_t opened_ns = 0;
};

// Keeps, for every host object that `stack` replaces or deletes and that has no base yet, what the
// three-way check needs: type, mode, identity, times, attributes, digest, and for regular files the
// bytes (reflinked where the file system can) up to a bound. A host object changed after opened_ns
// gets no base: at apply it is a conflict. Called when a command ends. Syncs before it returns.
Status capture_bases(const LayerStack& stack);

// Forgets the bases of paths that no layer touches any more. Called after a rollback: a path that a
// later command touches again then gets the base that this command saw.
Status prune_bases(const LayerStack& stack);

// Counting lines reads every changed text file; without it added_lines, deleted_lines and binary
// are left alone.
enum class LineCounts { skip, count };

// Compares the stack with its bases and the host. A rewrite to the same content and mode is no
// change. resource_exhausted past a million changed paths.
Result<model::ChangeSet> compute_changes(const LayerStack& stack,
                                         LineCounts lines = LineCounts::count);

// git format: text, binary, mode, rename, symlink, delete. `git apply` on a clean clone of the base
// yields the same bytes. Needs git on the host (unsupported otherwise); none of the repository's
// hooks, filters, attributes or config take part. Paths that apply would hold back are in it, and
// named in a preamble that git skips. What git cannot express is not: empty directories, modes but
// the execute bit, attributes, hard links. Only `paths` and what is below them; empty: all.
Result<std::string> make_patch(const LayerStack& stack, const std::vector<std::string>& paths);

// Where an interrupted apply leaves its journal, and where it stages when this is on the host
// tree's file system. One directory per workspace, made when absent.
struct ApplySite {
  model::HostPath journal_dir;
  std::string tag;  // handed back by recover_apply: whose apply it was
};

// Checks every path three ways against the host as it is now and, when there is no conflict, brings
// the change set to the host tree all or nothing: staged and synced on the target's file system,
// committed by a synced journal, each path exchanged and what came out compared. Symlinks on either
// side are never followed, setuid and setgid bits never applied, ownership is the caller's (of a
// replaced object its own; for root, of a new one that of its directory). What was applied becomes
// the new base. Recovers an earlier apply first. failed_precondition while another process applies
// here.
Result<ApplyReport> apply_changes(const LayerStack& stack, const ApplyOptions& options,
                                  const ApplySite& site);

enum class Recovered { nothing, finished, undone };
struct Recovery {
  Recovered outcome = Recovered::nothing;
  std::string tag;  // of the apply that was finished or undone
};

// Finishes (past its commit point) or undoes an apply that was cut.
Result<Recovery> recover_apply(const model::HostPath& journal_dir);

// The git side of a workspace: where its git directory and common directory are.
struct GitView {
  model::HostPath host_git_dir;     // of the host repository (for a worktree: its own git dir)
  model::HostPath host_common_dir;  // refs and objects; equal to host_git_dir otherwise
  std::vector<model::HostPath> git_layers;  // what the view changed of host_git_dir, newest first
  std::vector<model::HostPath> common_layers;  // and of host_common_dir
  model::HostPath scratch;                     // exists; temporary repositories are made in it
};

// Creates refs/heads/<branch> in the host repository from what HEAD is in the view and returns the
// commit id. Objects are checked (fsck) on the way in; no hook, filter or config of the view takes
// part. already_exists when the ref does, not_found when the view made no commit.
Result<std::string> bring_branch(const GitView& git, const std::string& branch);

// Why a path would execute on the host or steer its tools when it arrived there (or changed, or
// went); empty: it would not. Matches case-insensitively, by every component, at any depth. A glob
// without a slash is compared with every component, one with a slash with the path and with each
// directory above it.
std::string host_exec_reason(const std::string& path,
                             const std::vector<std::string>& further_globs);

}  // namespace paddock::view
