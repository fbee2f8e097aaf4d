#include "engine/network.h"

#include <array>
#include <condition_variable>
#include <utility>

#include "sys/files.h"

namespace paddock::engine {
namespace {

constexpr size_t kMaxNetworkEvents = 2048;  // of one command
constexpr size_t kMaxFieldText = 1024;      // of one field: bytes of the sandbox
constexpr size_t kMaxBundle = 16u << 20;

// Where distributions keep the authorities that OpenSSL trusts.
constexpr std::array kBundles{"/etc/ssl/certs/ca-certificates.crt",
                              "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
                              "/etc/ssl/cert.pem"};

void bound(std::string& text) {
  if (text.size() > kMaxFieldText) text.resize(kMaxFieldText);
}

}  // namespace

struct Network::Log {
  explicit Log(NetworkKeep what) : keep(what) {}

  const NetworkKeep keep;
  std::mutex mutex;
  model::NetworkRecord record;
  Denials denials;

  void add(model::EgressEvent event) {
    for (std::string* text :
         {&event.host, &event.reason, &event.path, &event.method, &event.process, &event.remedy}) {
      bound(*text);
    }
    std::lock_guard lock(mutex);
    if (keep == NetworkKeep::denials) {
      if (event.verdict == model::EgressVerdict::denied) denials.add(model::to_denial(event));
      return;
    }
    if (record.events.size() < kMaxNetworkEvents) {
      record.events.push_back(std::move(event));
    } else {
      ++record.dropped;
    }
  }
};

Result<egress::Gate*> Network::gate() {
  std::lock_guard lock(mutex_);
  if (gate_ == nullptr) {
    egress::GateOptions options;
    options.state_dir = home_.str();
    options.ssh_program = ssh_program_;
    options.on_event = [this](const model::EgressEvent& event) { take(event); };
    gate_ = egress::make_gate(std::move(options));
  }
  return gate_.get();
}

Result<std::string> Network::trust_bundle() {
  egress::Gate* made = PD_TRY(gate());
  std::string bundle = PD_TRY(made->authority_pem());
  for (const char* path : kBundles) {
    if (!sys::exists(path)) continue;
    return bundle + "\n" +
           PD_TRY_CTX("reading what this host trusts", sys::read_file(path, kMaxBundle));
  }
  return bundle;
}

void Network::set_on_event(OnEvent on_event) {
  std::lock_guard lock(mutex_);
  on_event_ = std::move(on_event);
}

void Network::take(const model::EgressEvent& event) {
  std::shared_ptr<Log> log;
  OnEvent on_event;
  {
    std::lock_guard lock(mutex_);
    const auto found = logs_.find(event.sandbox);
    if (found == logs_.end()) return;
    log = found->second;
    on_event = on_event_;
  }
  log->add(event);
  if (on_event) on_event(event);
}

NetworkSession::NetworkSession(Network& network, egress::Gate& gate, model::SandboxId id,
                               NetworkKeep keep)
    : network_(network),
      gate_(gate),
      id_(std::move(id)),
      log_(std::make_shared<Network::Log>(keep)) {
  std::lock_guard lock(network_.mutex_);
  network_.logs_[id_] = log_;
}

Result<std::unique_ptr<NetworkSession>> NetworkSession::begin(Network& network,
                                                              const model::SandboxId& id,
                                                              egress::SandboxRules rules,
                                                              NetworkKeep keep) {
  egress::Gate* gate = PD_TRY(network.gate());
  std::unique_ptr<NetworkSession> session(new NetworkSession(network, *gate, id, keep));
  gate->set_rules(id, std::move(rules));
  return session;
}

NetworkSession::~NetworkSession() {
  gate_.forget(id_);
  std::lock_guard lock(network_.mutex_);
  network_.logs_.erase(id_);
}

Denials NetworkSession::denials() const {
  std::lock_guard lock(log_->mutex);
  return log_->denials;
}

void NetworkSession::record(model::EgressEvent event) {
  log_->add(std::move(event));
}

model::NetworkRecord NetworkSession::end() {
  gate_.forget(id_);
  std::lock_guard lock(log_->mutex);
  return std::exchange(log_->record, {});
}

}  // namespace paddock::engine
