#include "egress/gate.h"

#include <fmt/core.h>

#include <algorithm>
#include <future>
#include <map>
#include <vector>

#include "base/strings.h"
#include "egress/gate/connection.h"
#include "egress/gate/core.h"
#include "egress/gate/release_push.h"
#include "egress/gate/sandbox.h"
#include "sys/clock.h"

namespace paddock::egress {
namespace {

using model::EgressEvent;
using model::SandboxId;

// Of connections whose program is gone: to end on their own, and after they were told to.
constexpr std::chrono::milliseconds kLastWords{200};
constexpr std::chrono::milliseconds kPatienceAtEnd{5000};

Error refusal_of(const EgressEvent& event, const std::string& what) {
  return Error(Code::permission_denied, fmt::format("{}: {} ({})", what, event.reason, event.rule))
      .set_remedy(event.remedy);
}

class GateImpl : public Gate {
 public:
  explicit GateImpl(GateOptions options)
      : threads_(std::max(options.threads, 1u)), core_(std::move(options)) {}

  ~GateImpl() override {
    for (const auto& [id, sandbox] : all()) leave(*sandbox);
  }

  void set_rules(const SandboxId& id, SandboxRules rules) override {
    std::shared_ptr<Sandbox> sandbox;
    {
      std::lock_guard lock(mutex_);
      std::shared_ptr<Sandbox>& slot = sandboxes_[id];
      if (slot == nullptr) {
        slot = std::make_shared<Sandbox>(id, std::move(rules));
        return;
      }
      sandbox = slot;
    }
    sandbox->set_rules(std::move(rules));
    for (const auto& connection : sandbox->connections()) {
      connection->loop().post([connection] { connection->recheck(); });
    }
  }

  void forget(const SandboxId& id) override {
    std::shared_ptr<Sandbox> sandbox;
    {
      std::lock_guard lock(mutex_);
      const auto found = sandboxes_.find(id);
      if (found == sandboxes_.end()) return;
      sandbox = std::move(found->second);
      sandboxes_.erase(found);
    }
    sandbox->wait_for_quiet(kLastWords);
    leave(*sandbox);
    sandbox->wait_for_quiet(kPatienceAtEnd);
  }

  Result<SyntheticPair> resolve(const NameRequest& request) override {
    const std::shared_ptr<Sandbox> sandbox = PD_TRY(find(request.sandbox));
    auto name = HostName::parse(request.name);
    if (!name.ok()) return refuse_name(request, printable(request.name), name.error());
    const Verdict verdict = sandbox->rules().policy->resolve(*name);
    if (verdict.answer != Answer::allow) return refuse_name(request, name->str(), verdict);
    auto pair = sandbox->address_of(*name);
    if (!pair.ok()) return refuse_name(request, name->str(), pair.error());
    return pair;
  }

  Status open(ConnectionRequest request) override {
    const std::shared_ptr<Sandbox> sandbox = PD_TRY(find(request.sandbox));
    auto host = host_of(*sandbox, request);
    if (!host.ok()) return refuse_destination(request, host.error());
    const Target target{std::move(*host), request.port};
    PD_TRY(check_destination(*sandbox, target, request));
    net::Loop& loop = next_loop();
    auto connection = std::make_shared<Connection>(
        Connection::Parts{core_, loop, sandbox, target, request.asker, std::move(request.on_end)},
        std::move(request.stream));
    PD_TRY(sandbox->join(connection));
    loop.spawn([connection](net::Task& task) { connection->run(task); });
    return {};
  }

  Result<ReleasedPush> release(const std::string& id, const SandboxRules& rules) override {
    std::promise<Result<ReleasedPush>> done;
    next_loop().spawn([&](net::Task& task) {
      done.set_value(
          release_push(task, core_, rules, id).with_context("releasing push " + printable(id)));
    });
    return done.get_future().get();
  }

  Result<std::string> ssh_host_key() override {
    ssh::HostKey key = PD_TRY(core_.ssh_host_key());
    return std::move(key.public_key);
  }

  Result<std::string> authority_pem() override {
    tls::Authority* authority = PD_TRY(core_.authority());
    return authority->pem();
  }

 private:
  using Sandboxes = std::map<SandboxId, std::shared_ptr<Sandbox>>;

  Sandboxes all() {
    std::lock_guard lock(mutex_);
    return sandboxes_;
  }

  Result<std::shared_ptr<Sandbox>> find(const SandboxId& id) {
    std::lock_guard lock(mutex_);
    const auto found = sandboxes_.find(id);
    if (found == sandboxes_.end())
      return Error(Code::not_found, "no sandbox " + id.str() + " at the gate");
    return found->second;
  }

  static void leave(Sandbox& sandbox) {
    for (const auto& connection : sandbox.leave_all()) {
      connection->loop().post(
          [connection] { connection->abort(Connection::Abort::unneeded, "the sandbox is gone"); });
    }
  }

  static Result<Host> host_of(const Sandbox& sandbox, const ConnectionRequest& request) {
    if (const auto* name = std::get_if<std::string>(&request.destination)) return parse_host(*name);
    const auto& address = std::get<model::IpAddress>(request.destination);
    if (!SyntheticAddresses::is_synthetic(address)) return Host(address);
    if (auto name = sandbox.name_of(address)) return Host(*name);
    return Error(Code::permission_denied,
                 fmt::format("{} stands for no name of this sandbox", address.str()));
  }

  // What can be said without a byte of the stream.
  Status check_destination(const Sandbox& sandbox, const Target& target,
                           const ConnectionRequest& request) {
    const SandboxRules rules = sandbox.rules();
    const Verdict verdict = rules.policy->decide(target, {});
    const std::string what = fmt::format("tcp {}:{}", to_string(target.host), target.port);
    EgressEvent event =
        begin_event(model::EgressEventKind::connection, {request.sandbox, target, request.asker});
    if (verdict.answer == Answer::deny) {
      note_verdict(event, verdict);
    } else if (const auto* address = std::get_if<model::IpAddress>(&target.host)) {
      const Status checked = core_.dialler.check(target, *address, *rules.policy);
      if (checked.ok()) return {};
      note_error(event, Status(checked).error());
    } else {
      return {};
    }
    report(event);
    return refusal_of(event, what);
  }

  Error refuse_destination(const ConnectionRequest& request, const Error& error) {
    EgressEvent event;
    event.sandbox = request.sandbox;
    event.kind = model::EgressEventKind::connection;
    const auto* name = std::get_if<std::string>(&request.destination);
    event.host =
        name != nullptr ? printable(*name) : std::get<model::IpAddress>(request.destination).str();
    event.port = request.port;
    return report_refusal(std::move(event), request.asker, error);
  }

  template <typename Why>
  Error refuse_name(const NameRequest& request, std::string name, const Why& why) {
    EgressEvent event;
    event.sandbox = request.sandbox;
    event.kind = model::EgressEventKind::name;
    event.host = std::move(name);
    return report_refusal(std::move(event), request.asker, why);
  }

  Error report_refusal(EgressEvent event, const Asker& asker, const Error& error) {
    note_error(event, error);
    return finish_refusal(std::move(event), asker);
  }
  Error report_refusal(EgressEvent event, const Asker& asker, const Verdict& verdict) {
    note_verdict(event, verdict);
    if (verdict.rules.empty()) event.remedy = "--allow " + event.host;
    return finish_refusal(std::move(event), asker);
  }

  Error finish_refusal(EgressEvent event, const Asker& asker) {
    event.verdict = model::EgressVerdict::denied;
    if (event.rule.empty()) event.rule = "egress";
    event.pid = asker.pid;
    event.process = asker.process;
    event.time_ms = sys::wall_clock_ms();
    report(event);
    return refusal_of(event, event.host);
  }

  void report(const EgressEvent& event) const {
    if (core_.sink) core_.sink(event);
  }

  // Threads begin with the first connection.
  net::Loop& next_loop() {
    std::lock_guard lock(mutex_);
    if (loops_.size() < threads_) loops_.push_back(std::make_unique<net::Loop>());
    return *loops_[turn_++ % loops_.size()];
  }

  const size_t threads_;
  Core core_;
  std::mutex mutex_;
  Sandboxes sandboxes_;
  size_t turn_ = 0;
  std::vector<std::unique_ptr<net::Loop>> loops_;  // last: they end before what connections use
};

}  // namespace

std::unique_ptr<Gate> make_gate(GateOptions options) {
  return std::make_unique<GateImpl>(std::move(options));
}

}  // namespace paddock::egress
