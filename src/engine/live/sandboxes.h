// All live sandboxes of one daemon: making them, finding them, and their end.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "engine/live/adoption.h"
#include "engine/live/live_sandbox.h"
#include "engine/live/start_up.h"
#include "engine/sandbox_record.h"
#include "isolation/backend.h"
#include "net/worker.h"
#include "policy/compile.h"
#include "service/quota.h"
#include "sys/fd.h"

namespace paddock::engine {

struct CreateRequest {
  std::string template_name = "base";
  int64_t timeout_ms = 300'000;
  std::map<std::string, std::string> metadata;
  std::map<std::string, std::string> environment;
  model::Owner owner;
  service::Quota quota;  // of its owner
  NetworkRequest network;
};

// Who says what may leave: policy, or nobody, so that it is what ships.
enum class EgressWord { of_policy, shipped };

struct SandboxesOptions {
  EgressWord egress = EgressWord::of_policy;
  std::map<std::string, std::string> caller_environment;  // of who started the daemon
  model::HostPath caller_home;
  size_t max_sandboxes = 512;
  size_t starters = 2;           // how many are made at the same time
  Observer* observer = nullptr;  // outlives the loop
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

  // not_found: the template. resource_exhausted: too many.
  Result<std::shared_ptr<LiveSandbox>> create(net::Task& task, CreateRequest request);
  // Running ones only.
  std::shared_ptr<LiveSandbox> find(const std::string& id);
  std::vector<std::shared_ptr<LiveSandbox>> list();
  // In whatever state.
  std::vector<std::shared_ptr<LiveSandbox>> all();
  // not_found: no such sandbox runs.
  Status kill(net::Task& task, const std::string& id, std::string reason);
  Status set_deadline(net::Task& task, LiveSandbox& sandbox, int64_t deadline_ms);
  // Makes no further ones; kills those that are bound, and lets go of the others.
  void end(net::Task& task);

 private:
  struct Entry {
    std::shared_ptr<LiveSandbox> sandbox;
    std::unique_ptr<SandboxRecord> record;
  };

  Result<std::shared_ptr<LiveSandbox>> admit(net::Task& task, CreateRequest request);
  // What it would hold, and what its owner holds already, those being made included.
  service::Holding asked_for() const;
  service::Holding held_by(const model::Owner& owner) const;
  Result<Entry> make(net::Task& task, CreateRequest request);
  Status put_on_record(net::Task& task, StartedUp& started, SandboxRecord& record);
  void let_go(net::Task& task, const std::string& id);
  LiveSandbox::OnEnd on_end();
  Status finish(net::Task& task, const std::string& id, std::string reason);
  void end_later(LiveSandbox& sandbox, std::string reason);

  // What policy lets out, found once: it asks the host's tools. On a worker's thread.
  Result<std::shared_ptr<const EgressSource>> granted();

  net::Loop& loop_;
  Parts parts_;
  policy::Compiled policy_;
  SandboxesOptions options_;
  Network network_;
  std::mutex granted_mutex_;
  std::shared_ptr<const EgressSource> granted_;
  sys::FileFd lock_;
  std::vector<Adopted> found_;  // by open(), for take_over()
  bool ending_ = false;
  std::vector<model::Owner> creating_;  // whose are being made
  size_t next_starter_ = 0;
  std::map<std::string, Entry> sandboxes_;
  net::Worker books_;  // the database's thread
  std::vector<std::unique_ptr<net::Worker>> starters_;
};

}  // namespace paddock::engine
