// The gate on loopback, for real clients and for measuring: the first --listen is 127.0.0.2, the
// next 127.0.0.3 and so on, each with the port that a sandbox would have asked the host for.
//
//   gate_listener --state DIR [--trust FILE] [--map NAME=ADDRESS]… [--rule TABLE]… [--credential
//   TABLE]…
//                 [--listen NAME:PORT]… [--ssh-program FILE] [--known-hosts FILE]
//
// TABLE is "key=value;key=value", lists split at commas: the keys of [[egress.rule]] and
// [[credential]]; `secret` and `key_id` give a credential's secrets. Every rule is an admin's.
// Prints one JSON document a line: what it listens on, the authority, the placeholders, then each
// event. Ends when stdin does; a line "resolve NAME" on stdin prints the answer.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/json.hpp>
#include <cstdio>
#include <iostream>
#include <map>
#include <mutex>
#include <thread>

#include "base/strings.h"
#include "egress/gate.h"
#include "model/egress_table.h"
#include "sys/files.h"
#include "sys/random.h"

namespace paddock {
namespace {

namespace json = boost::json;

class MapResolver : public net::Resolver {
 public:
  explicit MapResolver(std::map<std::string, std::string> answers) : answers_(std::move(answers)) {}
  Result<std::vector<model::IpAddress>> resolve(net::Task&, const std::string& name) override {
    const auto found = answers_.find(name);
    if (found == answers_.end())
      return Error(Code::not_found, "resolving " + name + ": no such name");
    return std::vector{PD_TRY(model::IpAddress::parse(found->second))};
  }

 private:
  const std::map<std::string, std::string> answers_;
};

struct Options {
  std::string state, trust_file, ssh_program, known_hosts;
  std::map<std::string, std::string> answers;
  std::vector<model::EgressRule> rules;
  std::vector<egress::LoadedCredential> credentials;
  std::vector<std::pair<std::string, uint16_t>> listen;
};

constexpr std::string_view kLists[] = {"hosts", "addresses",    "ports", "methods",
                                       "paths", "repositories", "push",  "hold"};

// Secrets are taken out of the table: no source is read here.
model::PlainTable parse_table(std::string_view text, std::map<std::string, std::string>& secrets) {
  model::PlainTable table;
  for (const std::string& pair : split(text, ';')) {
    const size_t equals = std::min(pair.find('='), pair.size());
    const std::string key = pair.substr(0, equals);
    const std::string value = pair.substr(std::min(pair.size(), equals + 1));
    if (key == "secret" || key == "key_id") {
      secrets[key] = value;
    } else if (std::find(std::begin(kLists), std::end(kLists), key) != std::end(kLists)) {
      model::PlainList list;
      for (const std::string& item : split(value, ',')) list.push_back({item});
      table.emplace_back(key, model::PlainValue{list});
    } else if (value == "true" || value == "false") {
      table.emplace_back(key, model::PlainValue{value == "true"});
    } else if (key == "streams") {
      table.emplace_back(key,
                         model::PlainValue{static_cast<int64_t>(parse_u64(value).value_or(0))});
    } else {
      table.emplace_back(key, model::PlainValue{value});
    }
  }
  return table;
}

Status add_rule(Options& options, std::string_view text) {
  std::map<std::string, std::string> ignored;
  model::EgressRule rule = PD_TRY(model::read_egress_rule(parse_table(text, ignored)));
  rule.authority = model::EgressAuthority::admin;
  options.rules.push_back(std::move(rule));
  return {};
}

Status add_credential(Options& options, std::string_view text) {
  std::map<std::string, std::string> secrets;
  model::PlainTable table = parse_table(text, secrets);
  table.emplace_back("from", model::PlainValue{std::string("env:TEST")});
  egress::LoadedCredential loaded{.source = PD_TRY(model::read_credential(table)),
                                  .secret = egress::Secret(secrets["secret"]),
                                  .key_id = {}};
  if (secrets.contains("key_id")) loaded.key_id = egress::Secret(secrets["key_id"]);
  options.credentials.push_back(std::move(loaded));
  return {};
}

Result<Options> parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    const std::string value = argv[i + 1];
    const size_t colon = value.rfind(flag == "--map" ? '=' : ':');
    const std::string left = value.substr(0, colon);
    const std::string right = colon == std::string::npos ? "" : value.substr(colon + 1);
    if (flag == "--state") options.state = value;
    if (flag == "--ssh-program") options.ssh_program = value;
    if (flag == "--known-hosts") options.known_hosts = value;
    if (flag == "--trust") options.trust_file = value;
    if (flag == "--map") options.answers[left] = right;
    if (flag == "--rule") PD_TRY(add_rule(options, value));
    if (flag == "--credential") PD_TRY(add_credential(options, value));
    if (flag == "--listen")
      options.listen.emplace_back(left, static_cast<uint16_t>(parse_u64(right).value_or(0)));
  }
  return options;
}

void print(const json::object& document) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  std::cout << json::serialize(document) << "\n" << std::flush;
}

void print_event(const model::EgressEvent& event) {
  json::array credentials;
  for (const std::string& name : event.credentials) credentials.emplace_back(name);
  print({{"event", name_of(model::kEgressEventKindNames, event.kind)},
         {"verdict", name_of(model::kEgressVerdictNames, event.verdict)},
         {"host", event.host},
         {"port", event.port},
         {"protocol", event.protocol},
         {"rule", event.rule},
         {"reason", printable(event.reason)},
         {"address", event.address},
         {"method", event.method},
         {"path", event.path},
         {"status", event.status},
         {"request_bytes", event.request_bytes},
         {"response_bytes", event.response_bytes},
         {"credentials", std::move(credentials)}});
}

Result<sys::SocketFd> listen_at(const std::string& at, uint16_t port) {
  sys::SocketFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  inet_pton(AF_INET, at.c_str(), &address.sin_addr);
  const int on = 1;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // SAFETY: an IPv4 address.
  if (bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener.get(), 4096) != 0) {
    return Error::from_errno(errno, "listening at " + at);
  }
  return listener;
}

void accept_all(egress::Gate& gate, const model::SandboxId& id, int listener,
                const std::string& name, uint16_t port) {
  while (true) {
    sys::SocketFd accepted(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    if (!accepted.is_open()) return;
    (void)gate.open({.sandbox = id,
                     .destination = name,
                     .port = port,
                     .asker = {},
                     .stream = std::move(accepted),
                     .on_end = {}});
  }
}

Status serve(Options options) {
  egress::SandboxRules rules;
  rules.policy = PD_TRY(egress::Policy::compile({.lists = {options.rules}}));
  if (!options.credentials.empty()) {
    rules.credentials =
        PD_TRY(egress::CredentialSet::make(options.credentials, sys::random_bytes(32)));
  }
  if (!options.known_hosts.empty()) rules.known_hosts = {options.known_hosts};
  std::string trusted;
  if (!options.trust_file.empty()) trusted = PD_TRY(sys::read_file(options.trust_file));
  auto gate = egress::make_gate({.state_dir = options.state,
                                 .on_event = print_event,
                                 .resolver = std::make_unique<MapResolver>(options.answers),
                                 .trusted_pem = trusted,
                                 .ssh_program = options.ssh_program});
  const auto id = model::SandboxId::from_entropy(sys::random_bytes(8));
  gate->set_rules(id, rules);
  print({{"authority", PD_TRY(gate->authority_pem())}});
  if (rules.credentials != nullptr) {
    for (const auto& [name, value] : rules.credentials->environment())
      print({{"env", name}, {"value", value}});
  }
  std::vector<sys::SocketFd> listeners;
  std::vector<std::thread> threads;
  for (const auto& [name, port] : options.listen) {
    const std::string at = "127.0.0." + std::to_string(2 + listeners.size());
    listeners.push_back(PD_TRY(listen_at(at, port)));
    print({{"listen", name}, {"port", port}, {"at", at}});
    threads.emplace_back(accept_all, std::ref(*gate), id, listeners.back().get(), name, port);
  }
  print({{"ready", true}});
  for (std::string line; std::getline(std::cin, line);) {
    auto pair = gate->resolve({id, line.substr(line.find(' ') + 1), {}});
    print({{"resolve", line},
           {"answer", pair.ok() ? pair->v4.str() : ""},
           {"refused", pair.ok() ? "" : pair.error().describe()}});
  }
  for (const sys::SocketFd& listener : listeners) shutdown(listener.get(), SHUT_RDWR);
  for (std::thread& thread : threads) thread.join();
  return {};
}

}  // namespace
}  // namespace paddock

int main(int argc, char** argv) {
  auto options = paddock::parse_options(argc, argv);
  const paddock::Status status =
      options.ok() ? paddock::serve(std::move(*options)) : paddock::Status(options.error());
  if (status.ok()) return 0;
  std::fprintf(stderr, "gate_listener: %s\n", paddock::Status(status).error().describe().c_str());
  return 1;
}
