// One sandbox as the gate knows it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "egress/gate.h"
#include "egress/gate/budget.h"

namespace paddock::egress {

class Connection;

// Thread-safe. Lives as long as the gate knows the sandbox or a connection of it runs.
class Sandbox {
 public:
  Sandbox(model::SandboxId id, SandboxRules rules) : id_(std::move(id)), rules_(std::move(rules)) {}

  const model::SandboxId& id() const { return id_; }
  SandboxRules rules() const;
  void set_rules(SandboxRules rules);
  bool is_gone() const;

  Result<SyntheticPair> address_of(const HostName& name);
  std::optional<HostName> name_of(const model::IpAddress& address) const;

  // Of the rules of a verdict that `policy` gave. New rules begin unused.
  Result<Metering> meter(const std::shared_ptr<const Policy>& policy, const Verdict& verdict);

  // Of ssh that is opened, which costs processes of this host. resource_exhausted: there are
  // enough.
  Status begin_ssh();
  void end_ssh() { --opened_ssh_; }

  // Connections that run. After leave_all() none is taken in any more.
  Status join(const std::shared_ptr<Connection>& connection);
  void leave(const std::shared_ptr<Connection>& connection);
  std::set<std::shared_ptr<Connection>> connections() const;
  std::set<std::shared_ptr<Connection>> leave_all();
  // Until none runs any more. Not for threads of the gate.
  void wait_for_quiet(std::chrono::milliseconds patience);

 private:
  const model::SandboxId id_;
  mutable std::mutex mutex_;
  SandboxRules rules_;
  SyntheticAddresses names_;
  struct Used {
    std::shared_ptr<const Policy> policy;  // keeps the rule, so that its address stays its own
    std::shared_ptr<Meter> meter;
  };
  std::map<const Rule*, Used> meters_;
  std::set<std::shared_ptr<Connection>> connections_;
  size_t running_ = 0;  // taken in and not ended
  std::condition_variable quiet_;
  bool gone_ = false;
  std::atomic<int> opened_ssh_{0};
};

}  // namespace paddock::egress
