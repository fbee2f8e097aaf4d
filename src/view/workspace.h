// The workspace as sandboxes see it: a stack of sealed layers over the host directory, one private
// upper on top, secrets masked in between. ViewStore keeps the views of one PADDOCK_HOME.
//
// On disk (all below PADDOCK_HOME):
//   views/<id>/lock              held by whoever runs a command in the view
//   views/<id>/t<k>/<n>/fs,work  tree k (0: workspace, 1…: git directories outside of it), step n:
//                                the upper of command n, sealed as a layer when the command ends
//   views/<id>/base/             base versions of changed files, for the three-way check
//   masks/<key>/                 whiteouts over hidden files, per workspace and pattern set
//   paddock.db                   tables view, step (store/)
//
// A step is one command. States: open (a command runs, or ran and was killed: `interrupted` is open
// with its lock free), ready, applied, discarded.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "base/result.h"
#include "model/change.h"
#include "model/decision.h"
#include "model/ids.h"
#include "model/mounts.h"
#include "model/outcome.h"
#include "model/paths.h"
#include "model/settings.h"

namespace paddock::view {

enum class ViewState { running, interrupted, ready, applied, discarded };
inline constexpr EnumNames<ViewState, 5> kViewStateNames{{{ViewState::running, "running"},
                                                          {ViewState::interrupted, "interrupted"},
                                                          {ViewState::ready, "ready"},
                                                          {ViewState::applied, "applied"},
                                                          {ViewState::discarded, "discarded"}}};

// One command in the history of a view.
struct Step {
  uint32_t number = 0;  // 1…
  std::vector<std::string> argv;
  int64_t started_ms = 0;
  int64_t ended_ms = 0;  // 0: interrupted
  bool undone = false;   // by rollback
  std::string decision_json;
  std::string outcome_json;  // empty: interrupted
  std::string network_json;  // model::NetworkRecord; empty: it asked nothing of the gate
};

struct ViewInfo {
  model::ViewId id;
  model::HostPath workspace;
  ViewState state = ViewState::ready;
  int64_t created_ms = 0;
  uint32_t steps = 0;  // not undone
  uint64_t bytes = 0;  // held by layers and bases
};

struct OpenOptions {
  model::HostPath workspace;
  model::FileRules files;
  model::HostPath home;  // PADDOCK_HOME, never inside a workspace
  // Home directories that /etc/passwd may not name ($HOME): refused as workspace like those it
  // names.
  std::vector<model::HostPath> homes;
  std::vector<std::string> host_exec;  // model::ViewRules::host_exec; kept with the view
};

using model::ChangeCounts;

// How a step ended, for who was not there when it began.
struct StepEnd {
  int64_t ended_ms = 0;
  std::string outcome_json;
  std::string network_json;
};

// A view while a command runs in it. Move-only; holds the view's lock. Destroyed without finish(),
// the view stays as interrupted, its changes kept.
class OpenView {
 public:
  virtual ~OpenView() = default;
  virtual const model::ViewId& id() const = 0;
  // Trees to mount: the workspace at its own path, and git directories outside of it that it needs.
  // The workspace is tree 0. An upper that is no longer mounted is sealed by finish(), which syncs
  // what it keeps: mount it `volatile`.
  virtual const std::vector<model::OverlayTree>& trees() const = 0;
  // Symlinks of the host that the caller's spelling of the workspace goes through (/home ->
  // /var/home): shown inside, they make that spelling lead to the workspace as well.
  virtual const std::vector<model::Symlink>& links() const = 0;
  virtual uid_t owner_uid() const = 0;
  virtual gid_t owner_gid() const = 0;
  virtual const std::vector<std::string>& hidden() const = 0;
  virtual const std::vector<model::Control>& controls() const = 0;
  // Descriptors that keep the view from everybody else: whoever inherits them goes on holding it.
  virtual std::vector<int> held() const = 0;
  // Bytes that the upper takes on disk by now. Walks it at most twice a second.
  virtual uint64_t upper_bytes() = 0;

  // Writes what is known of the step (argv, start, decision) before its command starts, so that a
  // killed one is in the history. A view that was killed before this and changed nothing is not
  // kept.
  virtual Status begin(const Step& step) = 0;
  // Called when the sandbox is gone and its overlays with it. Seals the upper, keeps the bases of
  // what changed, writes the step and frees the lock. When no step of the view changed anything the
  // view is removed and nullopt comes back.
  virtual Result<std::optional<ChangeCounts>> finish(const Step& step) = 0;
};

enum class HostExec { hold_back, allow };
enum class Writes { dry_run, perform };

struct ApplyOptions {
  Writes writes = Writes::perform;
  HostExec host_exec = HostExec::hold_back;
  std::vector<std::string> paths;  // only these and below; empty: all
};

enum class ApplyResult { applied, unchanged, merged, held, conflict };
inline constexpr EnumNames<ApplyResult, 5> kApplyResultNames{{{ApplyResult::applied, "applied"},
                                                              {ApplyResult::unchanged, "unchanged"},
                                                              {ApplyResult::merged, "merged"},
                                                              {ApplyResult::held, "held"},
                                                              {ApplyResult::conflict, "conflict"}}};

struct AppliedPath {
  std::string path;
  ApplyResult result = ApplyResult::applied;
  std::string reason;  // of held and conflict
};

// With any conflict nothing was written.
struct ApplyReport {
  std::vector<AppliedPath> paths;
  bool has_conflict = false;
};

class ViewStore {
 public:
  virtual ~ViewStore() = default;

  // Refuses, with the remedy: `/`, a home directory itself, system directories, what holds
  // PADDOCK_HOME or a mount point. Makes a view and opens it for its first command.
  virtual Result<std::unique_ptr<OpenView>> create(const OpenOptions& options) = 0;
  // Opens an existing view for one more command: ready or interrupted, else failed_precondition.
  virtual Result<std::unique_ptr<OpenView>> reopen(const model::ViewId& id,
                                                   const OpenOptions& options) = 0;

  // What finish() does, of a view whose OpenView is gone: of one that was held by an agent, or by
  // somebody who was killed. Where its step was sealed meanwhile, how it ended is noted alone.
  // failed_precondition while somebody holds it. not_found: there is no such view (any more).
  virtual Result<std::optional<ChangeCounts>> settle(const model::ViewId& id,
                                                     const StepEnd& end) = 0;

  // All views, newest first.
  virtual Result<std::vector<ViewInfo>> list() = 0;
  // By unambiguous id prefix.
  virtual Result<ViewInfo> find(const std::string& prefix) = 0;
  // The newest ready or interrupted view of this workspace.
  virtual Result<ViewInfo> newest_of(const model::HostPath& workspace) = 0;
  virtual Result<std::vector<Step>> steps(const model::ViewId& id) = 0;

  // With line counts for text. Only below `paths` when given.
  virtual Result<model::ChangeSet> changes(const model::ViewId& id) = 0;
  // A git patch that `git apply` takes on a clean clone. unsupported without git on the host.
  virtual Result<std::string> patch(const model::ViewId& id,
                                    const std::vector<std::string>& paths) = 0;
  virtual Result<ApplyReport> apply(const model::ViewId& id, const ApplyOptions& options) = 0;
  // Brings the commits made in the view into the host repository as refs/heads/<branch>, a new ref.
  // Returns the commit id.
  virtual Result<std::string> apply_branch(const model::ViewId& id, const std::string& branch) = 0;
  virtual Status discard(const model::ViewId& id) = 0;
  // Undoes the last `count` steps that are not undone yet.
  virtual Status rollback(const model::ViewId& id, uint32_t count) = 0;
  // Removes applied and discarded views, and unapplied ones past the age or, oldest first, past the
  // total size that policy gives. Finishes or undoes applies that were cut. Returns what it
  // removed.
  virtual Result<std::vector<ViewInfo>> collect_garbage(const model::ViewRules& rules) = 0;
};

// Of one of a change set's git_paths: why git on the host would run it or be steered by it. Empty
// for plain data of git.
std::string git_exec_reason(const std::string& git_path);

}  // namespace paddock::view
