// A gate for tests: allows what the test names, and gives it the far ends of the connections.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "egress/gate.h"

namespace paddock::engine::testing {

// Allows names that begin with "allowed" and connections to port 443. Thread-safe.
class FakeGate : public egress::Gate {
 public:
  void set_rules(const model::SandboxId& sandbox, egress::SandboxRules) override {
    std::lock_guard lock(mutex_);
    sandboxes_.push_back(sandbox);
  }
  void forget(const model::SandboxId& sandbox) override {
    std::lock_guard lock(mutex_);
    std::erase(sandboxes_, sandbox);
  }
  Result<egress::SyntheticPair> resolve(const egress::NameRequest& request) override {
    std::lock_guard lock(mutex_);
    names.push_back(request.name);
    if (!request.name.starts_with("allowed")) {
      return Error(Code::permission_denied, "no rule allows it");
    }
    return egress::SyntheticPair{model::IpAddress::parse("198.18.0.5").value(),
                                 model::IpAddress::parse("2001:2::c612:5").value()};
  }
  Status open(egress::ConnectionRequest request) override {
    std::lock_guard lock(mutex_);
    if (request.port != 443) return Error(Code::permission_denied, "no rule allows the port");
    requests_.push_back(std::move(request));
    arrived_.notify_all();
    return {};
  }
  Result<egress::ReleasedPush> release(const std::string&, const egress::SandboxRules&) override {
    return Error(Code::unsupported, "a fake releases nothing");
  }
  Result<std::string> ssh_host_key() override { return std::string("ssh-ed25519 FAKE"); }
  Result<std::string> authority_pem() override { return std::string("PEM"); }

  // The next connection that was asked for; waits for it.
  egress::ConnectionRequest next() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return !requests_.empty(); });
    egress::ConnectionRequest request = std::move(requests_.front());
    requests_.erase(requests_.begin());
    return request;
  }
  bool knows_anyone() {
    std::lock_guard lock(mutex_);
    return !sandboxes_.empty();
  }

  std::vector<std::string> names;

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<egress::ConnectionRequest> requests_;
  std::vector<model::SandboxId> sandboxes_;
};

}  // namespace paddock::engine::testing
