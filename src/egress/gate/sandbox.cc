#include "egress/gate/sandbox.h"

#include <fmt/core.h>

#include <utility>

namespace paddock::egress {
namespace {

constexpr int kMaxOpenedSsh = 16;

}  // namespace

SandboxRules Sandbox::rules() const {
  std::lock_guard lock(mutex_);
  return rules_;
}

void Sandbox::set_rules(SandboxRules rules) {
  std::lock_guard lock(mutex_);
  meters_.clear();
  rules_ = std::move(rules);
}

bool Sandbox::is_gone() const {
  std::lock_guard lock(mutex_);
  return gone_;
}

Result<SyntheticPair> Sandbox::address_of(const HostName& name) {
  std::lock_guard lock(mutex_);
  return names_.address_of(name);
}

std::optional<HostName> Sandbox::name_of(const model::IpAddress& address) const {
  std::lock_guard lock(mutex_);
  return names_.name_of(address);
}

Result<Metering> Sandbox::meter(const std::shared_ptr<const Policy>& policy,
                                const Verdict& verdict) {
  std::vector<std::shared_ptr<Meter>> meters;
  {
    std::lock_guard lock(mutex_);
    for (const Rule* rule : verdict.rules) {
      Used& used = meters_[rule];
      if (used.meter == nullptr) used = {policy, std::make_shared<Meter>(*rule)};
      meters.push_back(used.meter);
    }
  }
  return Metering::begin(std::move(meters));
}

Status Sandbox::begin_ssh() {
  if (++opened_ssh_ <= kMaxOpenedSsh) return {};
  --opened_ssh_;
  return Error(Code::resource_exhausted,
               fmt::format("{} connections of git over ssh at one time are enough", kMaxOpenedSsh));
}

Status Sandbox::join(const std::shared_ptr<Connection>& connection) {
  std::lock_guard lock(mutex_);
  if (gone_) return Error(Code::not_found, "the sandbox is gone");
  connections_.insert(connection);
  ++running_;
  return {};
}

void Sandbox::leave(const std::shared_ptr<Connection>& connection) {
  std::lock_guard lock(mutex_);
  connections_.erase(connection);
  if (--running_ == 0) quiet_.notify_all();
}

void Sandbox::wait_for_quiet(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  quiet_.wait_for(lock, patience, [this] { return running_ == 0; });
}

std::set<std::shared_ptr<Connection>> Sandbox::connections() const {
  std::lock_guard lock(mutex_);
  return connections_;
}

std::set<std::shared_ptr<Connection>> Sandbox::leave_all() {
  std::lock_guard lock(mutex_);
  gone_ = true;
  return std::exchange(connections_, {});
}

}  // namespace paddock::egress
