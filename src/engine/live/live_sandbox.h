// A sandbox that outlives its commands: many at once over one agent, until it is killed, its time
// is up, or it ends by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/agent_resume.h"
#include "engine/denials.h"
#include "engine/live/agent_session.h"
#include "engine/live/guest_user.h"
#include "engine/live/lifecycle.h"
#include "engine/live/live_network.h"
#include "engine/live/observer.h"
#include "engine/live/port_stream.h"
#include "engine/live/process.h"
#include "engine/live/sandbox_log.h"
#include "engine/live/states.h"
#include "engine/live/template_settings.h"
#include "engine/live/usage_history.h"
#include "isolation/backend.h"
#include "model/decision.h"
#include "model/ids.h"
#include "model/owner.h"
#include "model/settings.h"
#include "net/event.h"
#include "net/worker.h"

namespace paddock::engine {

class KeptWatches;

// A directory of the host that it works on, through a view.
struct LiveWorkspace {
  model::HostPath directory;            // canonical; its path inside, too
  model::HostPath as_spelled;           // by who made it: links that lead there inside as well
  std::optional<model::ViewId> view;    // of its latest start
  std::vector<model::HostPath> uppers;  // what it writes to
};

// What is kept of it, alive or not.
struct LiveInfo {
  model::SandboxId id;
  std::string template_name;  // as its maker named it
  std::string base_template;  // what its layers lie over
  std::string layer;          // the top one, which it writes to
  SandboxState state = SandboxState::creating;
  std::string reason;  // of its end
  int64_t created_ms = 0;
  int64_t deadline_ms = 0;  // wall clock; of a paused one: when it was last to end
  Lifecycle lifecycle;
  Keep kept = Keep::memory;                        // of a paused one
  std::map<std::string, std::string> environment;  // its maker's
  std::map<std::string, std::string> metadata;
  model::Owner owner;
  std::optional<model::ViewId> view;  // the latest, of one with a workspace
  // Those of builds are no client's to see, and end with the daemon.
  enum class Purpose { client, build } purpose = Purpose::client;
  std::vector<std::string> command;   // that it was made for, and ends with
  uint32_t main_command = 0;          // its number; 0: there is none, or none any more
};

// What it was started as.
struct LiveSetup {
  model::Decision decision;
  model::Limits limits;
  std::string home;  // inside
  std::optional<LiveWorkspace> workspace;
  isolation::Users users = isolation::Users::one;
  GuestUser user;              // whose commands and files they are when nobody else is named
  bool is_user_named = false;  // by its template: it is not whom the agent takes by itself
  std::string directory;       // where commands start, by its template; empty: `home`
  TemplateSettings settings;   // of its template, for its start
  std::map<std::string, std::string> environment;  // of every command
  std::string placeholder_key;                     // what its placeholders follow from
  std::vector<std::string> egress;                 // what policy lets out, one line a rule
  bool ports_are_guarded = false;                  // NetworkRequest::Traffic::with_token
  std::string host_mask;                           // NetworkRequest's
  wire::Start start;                               // confinement of every command
  isolation::Lifetime lifetime = isolation::Lifetime::bound;
  // Whether its processes are stopped from outside, by the isolation, or by the agent.
  enum class StoppedBy { isolation, agent } stopped_by = StoppedBy::agent;

  const std::string& start_directory() const { return directory.empty() ? home : directory; }
};

struct LiveUsage {
  model::Usage total;  // since it was made
  uint32_t processes = 0;
};

// What start-up hands over. The isolation's sandbox is used by `worker` alone.
struct LiveParts {
  std::unique_ptr<isolation::Backend> backend;
  std::unique_ptr<isolation::Sandbox> sandbox;
  std::unique_ptr<AgentLink> link;  // nullptr: of one taken over, whose agent nobody here can ask
  sys::SocketFd waiting;            // a duplicate of the sandbox's stream
  net::Worker& worker;              // the thread that started it, which it dies with
  // Both or none; none: nothing leaves. The bridge is over `link`.
  std::unique_ptr<LiveNetwork> network{};
  std::unique_ptr<EgressBridge> bridge{};
};

// Used on its loop's thread. Destroyed only once it is gone.
class LiveSandbox : public std::enable_shared_from_this<LiveSandbox> {
 public:
  // `on_end` is called once, when it is to be ended for a reason that came from inside or from the
  // clock; whoever made it answers with kill().
  using OnEnd = std::function<void(LiveSandbox&, std::string reason)>;
  using OnTimeUp = std::function<void(LiveSandbox&)>;
  LiveSandbox(net::Loop& loop, LiveInfo info, LiveSetup setup, LiveParts parts, OnEnd on_end);
  // Which the sandbox was started with.
  void note_network(NetworkRequest request) { network_ = std::move(request); }
  ~LiveSandbox();

  // Before begin(); it outlives this.
  void set_observer(Observer* observer) { observer_ = observer; }
  // What happens at its deadline instead of on_end, which ends it.
  void set_on_time_up(OnTimeUp on_time_up) { on_time_up_ = std::move(on_time_up); }

  // How what it has on disk is measured.
  using MeasureDisk = std::function<uint64_t(net::Task&)>;
  void set_measure_disk(MeasureDisk measure) { measure_disk_ = std::move(measure); }

  void begin();
  // Instead of begin(), of one that an earlier daemon started: its commands, and what it is by its
  // record, `paused` or `creating` for one that ran.
  void take_over(net::Task& task, const Resumed& resumed);
  // Nothing leaves it any more, for this reason.
  void note_closed(const Error& reason);
  // From now on it is what `info` says, but for its layer: of one that nobody had asked for.
  void hand_over(LiveInfo info, NetworkRequest request);
  // Its agent goes on when this daemon ends, until its deadline. Of leased ones.
  Status outlive(net::Task& task);
  // It goes on without this daemon, which has nothing to do with it any more. Of leased ones.
  void let_go(net::Task& task);
  const LiveInfo& info() const { return info_; }
  const LiveSetup& setup() const { return setup_; }
  const std::string& id() const { return info_.id.str(); }
  bool is_running() const { return info_.state == SandboxState::running; }
  // Running or standing still: neither being made nor ending.
  bool is_alive() const;

  struct Started {
    std::shared_ptr<Process> process;
    std::unique_ptr<Process::Reader> reader;  // attached before it ran
  };
  // unavailable: it is no longer running. invalid_argument, not_found …: the command never ran.
  Result<Started> start(net::Task& task, ProcessRequest request);
  // The same for work of our own, which no list of processes shows.
  Result<Started> start_hidden(net::Task& task, ProcessRequest request);
  // A hidden command that is to listen on the port, and runs as long as the sandbox does.
  Status start_service(net::Task& task, ProcessRequest request, uint16_t port);
  // Whether its service runs and may not listen yet.
  bool is_starting(uint16_t port) const;
  // Those that run, and for a while those that have ended.
  std::shared_ptr<Process> find_process(int pid);
  std::shared_ptr<Process> find_process(const std::string& tag);
  std::vector<std::shared_ptr<Process>> processes();

  // It ends with that command.
  void note_main(uint32_t number) { info_.main_command = number; }
  // nullptr: it has none (any more).
  std::shared_ptr<Process> main_process();
  // How it ended as a run; the first word holds.
  void note_outcome(model::Outcome outcome);
  const std::optional<model::Outcome>& outcome() const { return outcome_; }

  // Those that clients ask for from time to time.
  KeptWatches& watches() { return *watches_; }
  const SandboxLog& log() const { return log_; }
  UsageHistory& usage_history() { return usage_history_; }

  Status set_deadline(net::Task& task, int64_t deadline_ms);
  Result<LiveUsage> usage(net::Task& task);
  // Of one that stands still, too.
  model::Usage total_usage(net::Task& task);
  // What it used in all, once it is gone.
  const model::Usage& final_usage() const { return final_usage_; }
  // A connection to the port on loopback inside; see PortStream::open.
  Result<std::unique_ptr<PortStream>> connect(net::Task& task, uint16_t port);
  // What may leave from now on, of what policy lets out.
  Status set_network(net::Task& task, NetworkRequest request);
  const NetworkRequest& network() const { return network_; }
  // What was refused so far, by the kernel and by the gate; equal ones are one record.
  std::vector<model::Denial> denials() const;
  // Bytes that what it wrote takes: as of now where that is told quickly, else as last measured.
  uint64_t disk_used(net::Task& task) const { return measure_disk_ ? measure_disk_(task) : 0; }
  uint64_t last_disk_used() const { return disk_used_; }
  void note_disk_used(uint64_t bytes) { disk_used_ = bytes; }

  // Whoever pauses, resumes, or changes what it stands on, holds the turn of these from the first
  // step to the last.
  net::Turnstile& changes() { return changes_; }
  net::Worker& worker() { return parts_.worker; }
  // Paused without its processes.
  bool is_asleep() const {
    return info_.state == SandboxState::paused && info_.kept == Keep::files;
  }
  // No process of anybody's is in it. Nothing starts before the caller waits again.
  Result<bool> is_idle(net::Task& task);
  void set_layer(std::string layer) { info_.layer = std::move(layer); }
  const std::optional<LiveWorkspace>& workspace() const { return setup_.workspace; }
  // Whose commands and files they are from now on when nobody else is named.
  void set_user(GuestUser user);

  // Stops every process, and its time. failed_precondition: it does not run. timed_out: they do not
  // stop. It runs on where this fails.
  Status pause(net::Task& task);
  // Nothing done where it runs. What fails ends it.
  Status resume(net::Task& task, int64_t deadline_ms);
  // The first half of pause(): goes on by resume(), or becomes paused by settle().
  Status stand_still(net::Task& task);
  // Ends everything in it, but not the sandbox: goes on by stand_up(), or becomes paused by
  // settle().
  Status lie_down(net::Task& task);
  void settle(Keep kept);
  // What it is when it was started anew. `no`: it was ended meanwhile, and nothing was taken.
  enum class Taken { no, yes };
  void begin_standing_up() { become(SandboxState::resuming); }
  Taken stand_up(LiveSetup& setup, LiveParts& parts, int64_t deadline_ms);
  // Ends everything in it and waits until nothing is left. The second caller waits for the first.
  Status kill(net::Task& task, std::string reason);

 private:
  Result<Started> start_process(net::Task& task, ProcessRequest request, bool hidden);
  void open_session();
  void log_runs();
  void on_message(wire::ToHost message);
  void attach(net::Task& task, const Resumed& resumed);
  void arm();
  Status check_running() const;
  void keep(wire::Start& start, const ProcessRequest& request) const;
  void become(SandboxState state);
  model::Usage usage_so_far();
  Status put_down();
  Status stop_everything(net::Task& task);
  Status hold(net::Task& task, wire::Hold::What what);
  Status tell_deadline(net::Task& task, std::optional<int64_t> deadline_ms);
  void forget_old_processes();

  net::Loop& loop_;
  LiveInfo info_;
  LiveSetup setup_;
  LiveParts parts_;
  OnEnd on_end_;
  OnTimeUp on_time_up_;
  MeasureDisk measure_disk_;
  uint64_t disk_used_ = 0;
  std::shared_ptr<AgentSession> session_;
  uint32_t last_number_ = 0;
  struct Entry {
    std::shared_ptr<Process> process;
    bool hidden = false;
    bool is_start_logged = false;
    int64_t began_us = 0;
  };
  // Its end may be heard before whoever started it runs on.
  void log_start(Entry& entry);

  std::map<uint32_t, Entry> processes_;
  std::unique_ptr<KeptWatches> watches_;
  net::Turnstile changes_;  // pauses and resumes, one at a time
  SandboxLog log_;
  UsageHistory usage_history_;
  Denials denials_;  // but those of `parts_.network`
  Observer* observer_ = nullptr;
  model::Usage earlier_usage_;  // before it last stood up
  model::Usage final_usage_;
  std::optional<model::Outcome> outcome_;
  model::Usage of_commands_;  // processor time of those that have ended
  NetworkRequest network_;
  struct Service {
    std::shared_ptr<Process> process;
    uint16_t port = 0;
    int64_t started_ms = 0;
  };
  std::optional<Service> service_;
  std::unique_ptr<net::Deadline> deadline_;
  net::Event gone_;
  Status destroyed_;
};

}  // namespace paddock::engine
