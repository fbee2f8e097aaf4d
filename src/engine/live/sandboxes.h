// All live sandboxes of one daemon: making them, finding them, and their end.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "engine/live/adoption.h"
#include "engine/live/directory_templates.h"
#include "engine/live/disk_watch.h"
#include "engine/live/gate_events.h"
#include "engine/live/layer_pins.h"
#include "engine/live/layers.h"
#include "engine/live/live_sandbox.h"
#include "engine/live/run_table.h"
#include "engine/live/snapshot_table.h"
#include "engine/live/start_up.h"
#include "engine/live/warm_pool.h"
#include "engine/live/workspace_views.h"
#include "engine/sandbox_record.h"
#include "isolation/backend.h"
#include "net/worker.h"
#include "policy/compile.h"
#include "service/quota.h"
#include "sys/fd.h"

namespace paddock::engine {

// What a sandbox is made over instead of a template alone.
struct Origin {
  std::string base_template;
  std::string layer;
};

struct CreateRequest {
  std::string template_name = "base";
  int64_t timeout_ms = 300'000;
  std::map<std::string, std::string> metadata;
  std::map<std::string, std::string> environment;
  model::Owner owner;
  service::Quota quota;  // of its owner
  NetworkRequest network;
  Lifecycle lifecycle;
  std::optional<Origin> origin;
  // A directory of the host, absolute, as its maker spells it. The sandbox gets a view of it at its
  // own path. Never to be taken from a request that came over the network.
  std::optional<model::HostPath> workspace;
  LiveInfo::Purpose purpose = LiveInfo::Purpose::client;
  std::vector<std::string> command;  // that start_main() will be asked for
};

struct ResumeRequest {
  int64_t deadline_ms = 0;
  Keep keep = Keep::memory;  // `files`: started anew, whatever was kept
};

struct ForkRequest {
  size_t count = 1;
  int64_t timeout_ms = 300'000;
  service::Quota quota;  // of whoever asks
};

LiveInfo info_of(const CreateRequest& request, const model::SandboxId& id);

// Who says what may leave: policy, or nobody, so that it is what ships.
enum class EgressWord { of_policy, shipped };

struct LivePolicy {
  policy::Compiled compiled;
  EgressWord egress = EgressWord::of_policy;
};

struct SandboxesOptions {
  EgressWord egress = EgressWord::of_policy;
  std::map<std::string, std::string> caller_environment;  // of who started the daemon
  model::HostPath caller_home;
  size_t max_sandboxes = 512;
  size_t starters = 2;           // how many are made at the same time
  WarmPool::Sizes pool;          // beside max_sandboxes
  Observer* observer = nullptr;  // outlives the loop
  // What a client asked for, once more from what is on record of it (NetworkRequest::text and
  // `internet`). On the loop's thread.
  using ReadNetwork =
      std::function<Result<NetworkRequest>(const model::Owner&, const NetworkRequest& recorded)>;
  ReadNetwork read_network;  // none: what is taken over and asked for something is closed
  // The policy of a sandbox over that directory. On any thread; none: workspaces are refused.
  std::function<Result<LivePolicy>(const model::HostPath& workspace)> policy_of;
  // Leased ones outlive the daemon, which takes over those that it finds.
  isolation::Lifetime lifetime = isolation::Lifetime::leased;
};

// Everything but the constructor and open() is called on the loop's thread. The sandboxes are bound
// to threads of this object: destroying it, after end(), joins them.
class Sandboxes {
 public:
  // `parts.database` and `parts.home` are from now on used by a thread of this object alone. The
  // policy is that of every sandbox made here; its workspace mode counts as `none`.
  Sandboxes(net::Loop& loop, Parts parts, policy::Compiled policy, SandboxesOptions options);
  ~Sandboxes();

  // Before anything else. Removes what an earlier daemon left, but for what lives. Blocks.
  // failed_precondition: another daemon works in this PADDOCK_HOME.
  Status open();
  // After open(), before all the others: takes over what lives. Whose time is up ends soon.
  void take_over(net::Task& task);

  // not_found: the template, the workspace. resource_exhausted: too many. permission_denied: a
  // directory that no view is made of.
  Result<std::shared_ptr<LiveSandbox>> create(net::Task& task, CreateRequest request);
  // Starts the command that the sandbox lives for: it ends with it.
  Result<std::shared_ptr<Process>> start_main(net::Task& task, LiveSandbox& sandbox,
                                              ProcessRequest request);
  // How such a one ended, and the last of what it said. For some days.
  Result<std::optional<EndedRun>> find_ended_run(net::Task& task, const std::string& sandbox);
  Result<std::vector<EndedRun>> ended_runs(net::Task& task);  // newest first, without output
  // Those that run or stand still.
  std::shared_ptr<LiveSandbox> find(const std::string& id);
  std::vector<std::shared_ptr<LiveSandbox>> list();
  // In whatever state.
  std::vector<std::shared_ptr<LiveSandbox>> all();
  // not_found: no such sandbox.
  Status kill(net::Task& task, const std::string& id, std::string reason);
  Status set_deadline(net::Task& task, LiveSandbox& sandbox, int64_t deadline_ms);
  // From now on, and on record.
  Status set_network(net::Task& task, LiveSandbox& sandbox, NetworkRequest request);
  // Keeps memory, or files alone; its time stops. failed_precondition: it does not run. How it is
  // stopped says the control "pause" of its decision.
  Status pause(net::Task& task, LiveSandbox& sandbox, Keep keep);
  // A running one is left as it is.
  Status resume(net::Task& task, LiveSandbox& sandbox, ResumeRequest wanted);

  // The files of it as they are now, under a new id that sandboxes can be made from. Commands go
  // on; memory is not in it. Nothing is left of one that fails.
  Result<Snapshot> snapshot(net::Task& task, LiveSandbox& sandbox, std::string name);
  Result<std::vector<Snapshot>> snapshots(net::Task& task);  // newest first
  // By id, or the newest of that name, of those that the caller may see. nullopt: none.
  Result<std::optional<Snapshot>> find_snapshot(net::Task& task, const std::string& id_or_name,
                                                const model::Caller& caller);
  // What sandboxes use of it stays until they end.
  Status remove_snapshot(net::Task& task, const std::string& id);
  // A directory of the host as a template: for whoever runs the daemon to say, no client. See
  // check_template_directory(). permission_denied: policy says what roots are.
  Result<DirectoryTemplate> add_directory(net::Task& task, std::string name,
                                          const std::string& path);
  Result<std::vector<DirectoryTemplate>> directories(net::Task& task);
  Result<std::optional<DirectoryTemplate>> find_directory(net::Task& task, const std::string& name);
  // failed_precondition: a sandbox, a snapshot or a built template stands on it.
  Status remove_directory(net::Task& task, const std::string& name);

  // Others with the files of this one, each made or not by itself.
  Result<std::vector<Result<std::shared_ptr<LiveSandbox>>>> fork(net::Task& task,
                                                                 LiveSandbox& sandbox,
                                                                 ForkRequest wanted);
  // Ends what runs in it; its files are those of the snapshot. invalid_argument: of another
  // template.
  Status roll_back(net::Task& task, LiveSandbox& sandbox, const Snapshot& to);
  // Returns when nothing of it is under way any more: its view is at rest. For one that ends.
  void await_end(net::Task& task, const std::string& id);
  // The views of this PADDOCK_HOME, those of living sandboxes among them.
  WorkspaceViews& views() { return views_; }
  // Makes no further ones; kills those that are bound, and lets go of the others.
  void end(net::Task& task);

  // ---- for builds of templates

  // On the database's thread: function(store::Database&).
  template <typename Function>
  auto on_books(net::Task& task, Function function) {
    return books_.run(task, [&] { return function(parts_.database); });
  }
  const model::Limits& limits() const { return policy_.settings.limits; }  // of each sandbox
  // A layer that is not removed while this is held.
  struct StepLayer {
    std::string layer;
    LayerPins::Hold pin;
  };
  LayerPins::Hold pin(const std::string& layer) { return pins_.hold(layer); }
  // What is written so far, on disk and nobody's to write to any more. Ends whatever runs in the
  // sandbox, which goes on over it.
  Result<StepLayer> seal_step(net::Task& task, LiveSandbox& sandbox);
  // An empty layer over that one (empty: the template), with settings.
  Result<StepLayer> put_settings_over(net::Task& task, const std::string& below,
                                      const TemplateSettings& settings);
  // What is said of sandboxes over that layer. Empty: nothing.
  Result<TemplateSettings> settings_of(net::Task& task, const std::string& layer);
  // Forgets what nothing uses any more.
  Status collect(net::Task& task);

 private:
  struct Entry {
    std::shared_ptr<LiveSandbox> sandbox;
    std::shared_ptr<SandboxRecord> record;
  };

  Result<std::shared_ptr<LiveSandbox>> admit(net::Task& task, CreateRequest request);
  // What it would hold, and what its owner holds already, those being made included.
  service::Holding asked_for() const;
  service::Holding held_by(const model::Owner& owner) const;
  // Layers that nobody writes to any more.
  struct Sealed {
    std::string layer;
    Guarantee guarantee;
    LayerPins::Hold pin;
  };
  // Nobody's yet: it ends with its daemon.
  enum class Taker { client, nobody_yet };
  // One start of a sandbox, the first or another.
  struct Booting {
    const LiveInfo& info;
    const NetworkRequest& network;
    SandboxRecord& record;
    net::Worker& worker;
    int64_t lives_ms;
    Taker taker;
    WorkspaceViews::Held view;  // by boot()
  };
  struct Planning {
    const std::string& base_template;
    const NetworkRequest& network;
    const std::optional<LiveWorkspace>& workspace;
  };
  struct OverDirectory {
    const Planning& what;
    const std::optional<model::HostPath>& root;  // of a template that is a directory
  };
  struct Ruling {
    policy::Compiled policy;
    std::shared_ptr<const EgressSource> granted;
  };

  Result<Entry> make(net::Task& task, CreateRequest request, Taker taker);
  Result<LivePlan> plan(net::Task& task, net::Worker& worker, const Planning& what);
  Result<LivePlan> plan_with_workspace(net::Task& task, net::Worker& worker,
                                       const OverDirectory& over);
  Result<Ruling> look_at(LiveWorkspace& workspace, const std::optional<model::HostPath>& root);
  Result<LivePlan> open_and_plan(view::ViewStore& views, const OverDirectory& over,
                                 const Ruling& ruling, LiveWorkspace workspace);
  Result<Ruling> ruling_of(const LiveWorkspace& workspace);
  Result<EgressSource> egress_source(const policy::Compiled& policy, EgressWord word,
                                     const model::HostPath& workspace);
  Status begin_step(net::Task& task, const Booting& what, const StartedUp& started);
  void give_up_step(net::Task& task, const Booting& what, StartedUp& started, const Error& why);
  Status settle_view(net::Task& task, const model::ViewId& view, const model::Outcome& outcome);
  void follow_main(LiveSandbox& sandbox, std::shared_ptr<Process> process);
  void keep_run(net::Task& task, LiveSandbox& sandbox, const std::string& reason);
  void settle_at_end(net::Task& task, const LiveSandbox& sandbox);
  void settle_at_rest(net::Task& task, const LiveSandbox& sandbox);
  Result<StartedUp> boot(net::Task& task, LivePlan plan, Booting what);
  Status put_on_record(net::Task& task, const Booting& what, StartedUp& started);
  Status let_live(net::Task& task, const Booting& what, StartedUp& started);
  Status start_services(net::Task& task, LiveSandbox& sandbox);
  WarmPool::Hooks pool_hooks();
  Result<std::pair<std::string, Warm>> make_warm(net::Task& task, const std::string& template_name);
  void discard(net::Task& task, Warm warm);
  bool may_be_warm(const CreateRequest& request) const;
  std::optional<Entry> take_warm(net::Task& task, const CreateRequest& request);
  Status hand_over(net::Task& task, const Warm& warm, const CreateRequest& request);
  Status keep_record(net::Task& task, LiveSandbox& sandbox);
  Status start_of_template(net::Task& task, LiveSandbox& sandbox);
  isolation::Lifetime lifetime_of(const LiveInfo& info) const;
  bool outlives(const Booting& what) const;
  void look_after(LiveSandbox& sandbox);
  Status recall_network(Adopted& found) const;
  Result<Rejoined> rejoin(const Adopted& found);
  void let_go(net::Task& task, const std::string& id);
  LiveSandbox::OnEnd on_end();
  Status stand_up(net::Task& task, LiveSandbox& sandbox, int64_t deadline_ms);
  Status stand_up(net::Task& task, LiveSandbox& sandbox, SandboxRecord& record,
                  int64_t deadline_ms);
  Status lie_down(net::Task& task, LiveSandbox& sandbox);
  Layers layers() { return {parts_.home, parts_.database}; }
  Result<Sealed> seal(net::Task& task, LiveSandbox& sandbox);
  Result<Sealed> seal_at_rest(net::Task& task, LiveSandbox& sandbox);
  Result<Sealed> seal_idle(net::Task& task, LiveSandbox& sandbox);
  Result<Sealed> seal_frozen(net::Task& task, LiveSandbox& sandbox);
  Status put_layer_over(net::Task& task, LiveSandbox& sandbox, const std::string& below);
  Status set_layer(net::Task& task, LiveSandbox& sandbox, const std::string& layer);
  void remove_later(std::vector<model::HostPath> layers);
  Status finish(net::Task& task, const std::string& id, std::string reason);
  DiskWatch::Hooks watch_hooks();
  void report_gate();
  void on_time_up(LiveSandbox& sandbox);
  Status note(net::Task& task, LiveSandbox& sandbox);
  void end_later(LiveSandbox& sandbox, std::string reason);

  // What policy lets out, found once: it asks the host's tools. On a worker's thread.
  Result<std::shared_ptr<const EgressSource>> granted();

  net::Loop& loop_;
  Parts parts_;
  policy::Compiled policy_;
  SandboxesOptions options_;
  Network network_;
  WorkspaceViews views_;
  std::unique_ptr<GateEvents> gate_events_;  // between open() and end()
  std::mutex granted_mutex_;
  std::shared_ptr<const EgressSource> granted_;
  sys::FileFd lock_;
  std::vector<Adopted> found_;  // by open(), for take_over()
  bool ending_ = false;
  size_t finishing_ = 0;  // calls of finish() that wait
  std::vector<model::Owner> creating_;  // whose are being made
  size_t next_starter_ = 0;
  std::map<std::string, Entry> sandboxes_;
  std::multiset<std::string> settling_;  // ids of those that have ended, but for their books
  LayerPins pins_;
  WarmPool pool_;
  DiskWatch disk_watch_;
  net::Worker books_;   // the database's thread
  net::Worker copier_;  // copies and syncs layers
  std::atomic<bool> no_more_removals_{false};
  net::Worker janitor_;  // removes them, until the daemon ends
  std::vector<std::unique_ptr<net::Worker>> starters_;
};

// How a sandbox ended: by the word of its command, or for that reason.
model::Outcome outcome_of_end(const LiveSandbox& sandbox, std::string reason);
// How a step ended in that a sandbox lived.
view::StepEnd step_end(const model::Outcome& outcome);
// unsupported: it has one, which is no part of what is wanted of it.
Status check_no_workspace(const LiveSandbox& sandbox, std::string_view what);

}  // namespace paddock::engine
