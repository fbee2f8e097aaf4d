#include <fcntl.h>
#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "ssh/channel_relay.h"
#include "ssh/confinement.h"
#include "ssh/known_hosts.h"
#include "ssh/sides.h"

namespace paddock::ssh {
namespace {

using wire::SshFrameKind;

constexpr long kDialPatience = 20;  // seconds

struct Setup {
  std::string host, user, command, git_protocol, key;
  unsigned port = 22;
  std::vector<std::string> known_hosts;
};

Result<Setup> read_setup(const wire::SshFrame& frame) {
  const std::vector<std::string> fields = wire::split_fields(frame.payload);
  if (frame.kind != SshFrameKind::setup || fields.size() < 8) {
    return Error(Code::data_corrupt, "a setup that is none");
  }
  const auto port = parse_u64(fields[1]);
  if (!port || *port == 0 || *port > 65535) return Error(Code::data_corrupt, "a port that is none");
  return Setup{.host = fields[0],
               .user = fields[2],
               .command = fields[3],
               .git_protocol = fields[4],
               .key = fields[5],
               .port = static_cast<unsigned>(*port),
               .known_hosts = {fields.begin() + 6, fields.end()}};
}

void on_exit_status(ssh_session, ssh_channel, int status, void* data) {
  *static_cast<int*>(data) = status;
}

class Client {
 public:
  Client(GateLink& gate, Setup setup)
      : gate_(gate), setup_(std::move(setup)), session_(ssh_new()) {}
  ~Client() {
    ssh_disconnect(session_);
    ssh_free(session_);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  Status begin(sys::Fd wire) {
    PD_TRY(connect(std::move(wire)));
    PD_TRY(check_known(session_, setup_.host, setup_.known_hosts));
    PD_TRY(log_in());
    return start_command();
  }

  Status carry() {
    gate_.queue(SshFrameKind::ready, "");
    PD_TRY(ChannelRelay(session_, channel_, gate_, Side::host).run(exit_status_));
    gate_.queue(SshFrameKind::exit, std::to_string(exit_status_ < 0 ? 255 : exit_status_));
    return gate_.flush_all();
  }

 private:
  Error failed(const std::string& doing) const {
    return Error(Code::unavailable, "ssh to " + setup_.host + ": " + doing + ": " +
                                        printable(ssh_get_error(session_)));
  }

  Status connect(sys::Fd wire) {
    const bool no = false;
    const socket_t fd = wire.release();  // libssh owns it from here on
    ssh_options_set(session_, SSH_OPTIONS_PROCESS_CONFIG, &no);
    ssh_options_set(session_, SSH_OPTIONS_FD, &fd);
    ssh_options_set(session_, SSH_OPTIONS_HOST, setup_.host.c_str());
    ssh_options_set(session_, SSH_OPTIONS_PORT, &setup_.port);
    ssh_options_set(session_, SSH_OPTIONS_USER, setup_.user.c_str());
    ssh_options_set(session_, SSH_OPTIONS_KNOWNHOSTS, setup_.known_hosts[0].c_str());
    ssh_options_set(session_, SSH_OPTIONS_GLOBAL_KNOWNHOSTS, setup_.known_hosts[1].c_str());
    ssh_options_set(session_, SSH_OPTIONS_TIMEOUT, &kDialPatience);
    return ssh_connect(session_) == SSH_OK ? Status() : failed("connecting");
  }

  Status log_in() { return setup_.key.empty() ? log_in_by_agent() : log_in_by_key(); }

  Status log_in_by_agent() {
    if (::fcntl(kAgent, F_SETFD, FD_CLOEXEC) != 0 ||
        ssh_set_agent_socket(session_, kAgent) != SSH_OK) {
      return Error(Code::internal, "paddock-ssh: no key, and no agent");
    }
    if (ssh_userauth_agent(session_, nullptr) == SSH_AUTH_SUCCESS) return {};
    return Error(Code::permission_denied, setup_.host + " does not let " + printable(setup_.user) +
                                              " in by a key of the ssh agent")
        .set_remedy(
            "give the public key to the host; a key that asks before it is used (ssh-add "
            "-c) must be confirmed in time");
  }

  Status log_in_by_key() {
    ssh_key key = nullptr;
    const int read =
        ssh_pki_import_privkey_base64(setup_.key.c_str(), nullptr, nullptr, nullptr, &key);
    if (read != SSH_OK) {
      return Error(Code::failed_precondition, "the private key of the credential cannot be read")
          .set_remedy("it must be one of ssh-keygen, without a passphrase");
    }
    const int done = ssh_userauth_publickey(session_, nullptr, key);
    ssh_key_free(key);
    if (done == SSH_AUTH_SUCCESS) return {};
    return Error(Code::permission_denied, setup_.host + " does not let " + printable(setup_.user) +
                                              " in by the credential's key")
        .set_remedy("give the public key to the host, or bind another credential of kind ssh");
  }

  Status start_command() {
    channel_ = ssh_channel_new(session_);
    if (ssh_channel_open_session(channel_) != SSH_OK) return failed("opening a channel");
    callbacks_.userdata = &exit_status_;
    callbacks_.channel_exit_status_function = on_exit_status;
    ssh_callbacks_init(&callbacks_);
    ssh_set_channel_callbacks(channel_, &callbacks_);
    // A host that takes no variable speaks the protocol's first version.
    if (!setup_.git_protocol.empty()) {
      (void)ssh_channel_request_env(channel_, "GIT_PROTOCOL", setup_.git_protocol.c_str());
    }
    if (ssh_channel_request_exec(channel_, setup_.command.c_str()) != SSH_OK) {
      return failed("starting git there");
    }
    return {};
  }

  GateLink& gate_;
  Setup setup_;
  ssh_session session_;
  ssh_channel channel_ = nullptr;
  ssh_channel_callbacks_struct callbacks_{};
  int exit_status_ = -1;
};

}  // namespace

Status dial(sys::Fd wire, GateLink& gate) {
  const wire::SshFrame setup = PD_TRY(gate.wait_frame());
  Setup known = PD_TRY(read_setup(setup));
  PD_TRY(confine(known.known_hosts));
  Client client(gate, std::move(known));
  PD_TRY(client.begin(std::move(wire)));
  return client.carry();
}

}  // namespace paddock::ssh
