// A gate with a sandbox, names that resolve as the test says, and the record.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "egress/gate.h"
#include "egress/testing/servers.h"
#include "net/certificate.h"
#include "sys/testing/temp_dir.h"

namespace paddock::egress::testing {

class FakeResolver : public net::Resolver {
 public:
  Result<std::vector<model::IpAddress>> resolve(net::Task&, const std::string& name) override {
    asked.push_back(name);
    std::vector<model::IpAddress> out;
    for (const char* text : answers[name]) out.push_back(model::IpAddress::parse(text).value());
    if (out.empty()) return Error(Code::not_found, "resolving " + name + ": no such name");
    return out;
  }

  std::map<std::string, std::vector<const char*>> answers;
  std::vector<std::string> asked;
};

inline model::EgressRule allow_rule(const std::string& host) {
  model::EgressRule rule;
  rule.action = model::EgressAction::allow;
  rule.hosts = model::TextList{host};
  rule.ports = model::TextList{"*"};
  // Loopback is refused but for an admin rule that names the address.
  rule.addresses = model::TextList{"127.0.0.1"};
  rule.authority = model::EgressAuthority::admin;
  return rule;
}

class Harness {
 public:
  explicit Harness(std::vector<model::EgressRule> rules,
                   std::vector<LoadedCredential> credentials = {})
      : authority_key(net::make_key().value()),
        authority(
            net::make_authority(*authority_key, {"authority of the test's servers"}).value()) {
    auto fake = std::make_unique<FakeResolver>();
    resolver = fake.get();
    gate = make_gate({.state_dir = dir.path(),
                      .on_event =
                          [this](const model::EgressEvent& event) {
                            std::lock_guard lock(mutex);
                            events.push_back(event);
                            changed.notify_all();
                          },
                      .resolver = std::move(fake),
                      .trusted_pem = net::to_pem(*authority)});
    id = model::SandboxId::from_entropy("12345678");
    set_rules(std::move(rules), std::move(credentials));
    for (const char* name : {"a.example", "b.example", "evil.example"})
      resolver->answers[name] = {"127.0.0.1"};
  }

  void set_rules(std::vector<model::EgressRule> rules,
                 std::vector<LoadedCredential> credentials = {}) {
    SandboxRules compiled;
    compiled.policy = Policy::compile({.lists = {std::move(rules)}}).value();
    if (!credentials.empty())
      compiled.credentials = CredentialSet::make(std::move(credentials), "sandbox").value();
    credential_set = compiled.credentials;
    gate->set_rules(id, std::move(compiled));
  }

  // A server of TLS that is this host.
  net::SslContextPtr server_context(const std::string& host) {
    net::PkeyPtr key = net::make_key().value();
    net::X509Ptr leaf = net::make_leaf({{host}, *key, *authority, *authority_key}).value();
    return net::make_server_context(*leaf, *key, {authority.get()}).value();
  }

  struct Opened {
    Status status;
    sys::SocketFd socket;  // the program's end
  };
  Opened open(const std::string& name, uint16_t port) {
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) std::abort();
    Opened out{.status = {}, .socket = sys::SocketFd(fds[0])};
    ConnectionRequest request{.sandbox = id,
                              .destination = name,
                              .port = port,
                              .asker = {7, "curl"},
                              .stream = sys::SocketFd(fds[1]),
                              .on_end = [this](Ending how, const std::string& why) {
                                std::lock_guard lock(mutex);
                                endings.emplace_back(how, why);
                                changed.notify_all();
                              }};
    out.status = gate->open(std::move(request));
    return out;
  }
  // In the clear; empty Peer semantics as a client.
  Peer connect(const std::string& name, uint16_t port) {
    Opened opened = open(name, port);
    EXPECT_TRUE(opened.status.ok()) << (opened.status.ok() ? "" : opened.status.error().describe());
    return Peer(std::move(opened.socket), nullptr, "");
  }

  template <typename F>
  bool wait_until(F holds) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(20), [&] { return holds(); });
  }
  model::EgressEvent wait_event(size_t index) {
    EXPECT_TRUE(wait_until([&] { return events.size() > index; }));
    std::lock_guard lock(mutex);
    return events.size() > index ? events[index] : model::EgressEvent();
  }
  std::pair<Ending, std::string> wait_ending() {
    EXPECT_TRUE(wait_until([&] { return !endings.empty(); }));
    std::lock_guard lock(mutex);
    return endings.empty() ? std::pair<Ending, std::string>() : endings.front();
  }

  sys::testing::TempDir dir;
  net::PkeyPtr authority_key;
  net::X509Ptr authority;
  FakeResolver* resolver = nullptr;
  model::SandboxId id;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<model::EgressEvent> events;
  std::vector<std::pair<Ending, std::string>> endings;
  std::shared_ptr<const CredentialSet> credential_set;
  std::unique_ptr<Gate> gate;  // last: it ends first
};

}  // namespace paddock::egress::testing
