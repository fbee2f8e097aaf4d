#include "egress/ssh/host.h"

#include <fmt/core.h>

#include "egress/ssh/agent_door.h"

namespace paddock::egress::ssh {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 60s;  // keys, log-in and the start of the command
constexpr std::string_view kNowhere = "/dev/null";

// With an agent no key is given: it signs, by the descriptor behind the others.
std::string setup_of(const HostCommand& what) {
  const bool signs = what.identity.agent_socket.empty();
  std::vector<std::string> fields{
      to_string(what.target.host),
      std::to_string(what.target.port),
      what.identity.user,
      what.command,
      what.git_protocol,
      signs ? std::string(what.identity.private_key.reveal()) + "\n" : ""};
  fields.insert(fields.end(), what.known_hosts.begin(), what.known_hosts.end());
  while (fields.size() < 8) fields.emplace_back(kNowhere);
  std::string out = wire::join_fields(fields);
  wipe(fields[5]);
  return out;
}

Result<std::unique_ptr<Helper>> start_and_log_in(net::Task& task, net::Stream& stream,
                                                 const HostCommand& what, sys::Fd agent) {
  auto host =
      PD_TRY(Helper::start(net::loop_of(task), what.program, "dial", stream, std::move(agent)));
  std::string setup = setup_of(what);
  Status written = host->write(task, wire::SshFrameKind::setup, setup);
  wipe(setup);
  if (written.ok()) {
    auto answer = host->read_within(task, kPatience);
    if (answer.ok() && answer->kind == wire::SshFrameKind::ready) return host;
    written = answer.ok() ? Error(Code::internal, "paddock-ssh: an answer that is none")
                          : std::move(answer).error();
  }
  host->abort();
  host->stop(task, 0ms);
  return std::move(written).error();
}

}  // namespace

Result<std::unique_ptr<Helper>> start_on_host(net::Task& task, net::Stream& stream,
                                              const HostCommand& what) {
  const SshIdentity& identity = what.identity;
  if (identity.agent_socket.empty()) return start_and_log_in(task, stream, what, {});
  auto door = PD_TRY(AgentDoor::open(net::loop_of(task), identity.agent_socket,
                                     {.key = identity.agent_key, .user = identity.user}));
  auto host = start_and_log_in(task, stream, what, door->take_client_end());
  door->close(task);  // one login
  return host;
}

Result<SshIdentity> identity_for(const CredentialSet* credentials, const Target& target) {
  if (credentials != nullptr) {
    if (auto identity = credentials->ssh_identity(target)) return std::move(*identity);
  }
  return Error(Code::permission_denied, fmt::format("no credential of kind ssh is bound to {}:{}",
                                                    to_string(target.host), target.port))
      .set_remedy("[[credential]] kind = \"ssh\", from = \"file:KEY\", hosts = [\"" +
                  to_string(target.host) + "\"]");
}

}  // namespace paddock::egress::ssh
