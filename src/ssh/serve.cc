#include <libssh/callbacks.h>
#include <libssh/libssh.h>
#include <libssh/server.h>

#include <chrono>
#include <string>

#include "base/strings.h"
#include "ssh/channel_relay.h"
#include "ssh/confinement.h"
#include "ssh/sides.h"

namespace paddock::ssh {
namespace {

using wire::SshFrameKind;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kAskPatience{30};  // until a command is asked for
constexpr size_t kMaxText = 4096;

// What the program has asked for so far. Callbacks of libssh fill it in.
struct Asked {
  ssh_channel channel = nullptr;
  std::string user, kind, command, git_protocol;
};

int take(Asked& asked, const char* kind, const char* command) {
  if (!asked.kind.empty()) return 1;
  asked.kind = kind;
  asked.command = std::string(command).substr(0, kMaxText);
  return 0;
}

int on_exec(ssh_session, ssh_channel, const char* command, void* data) {
  return take(*static_cast<Asked*>(data), "exec", command);
}
int on_shell(ssh_session, ssh_channel, void* data) {
  return take(*static_cast<Asked*>(data), "shell", "");
}
int on_subsystem(ssh_session, ssh_channel, const char* name, void* data) {
  return take(*static_cast<Asked*>(data), "subsystem", name);
}
int on_variable(ssh_session, ssh_channel, const char* name, const char* value, void* data) {
  if (std::string_view(name) != "GIT_PROTOCOL") return 1;
  static_cast<Asked*>(data)->git_protocol = std::string(value).substr(0, kMaxText);
  return 0;
}
int on_terminal(ssh_session, ssh_channel, const char*, int, int, int, int, void*) {
  return -1;
}

// Of the first channel alone.
struct Program {
  Asked asked;
  ssh_channel_callbacks_struct callbacks{};
};

int let_in(ssh_session, const char* user, void* data) {
  static_cast<Program*>(data)->asked.user = std::string(user).substr(0, kMaxText);
  return SSH_AUTH_SUCCESS;
}

ssh_channel open_channel(ssh_session session, void* data) {
  auto& program = *static_cast<Program*>(data);
  if (program.asked.channel != nullptr) return nullptr;
  program.asked.channel = ssh_channel_new(session);
  program.callbacks.userdata = &program.asked;
  program.callbacks.channel_exec_request_function = on_exec;
  program.callbacks.channel_shell_request_function = on_shell;
  program.callbacks.channel_subsystem_request_function = on_subsystem;
  program.callbacks.channel_env_request_function = on_variable;
  program.callbacks.channel_pty_request_function = on_terminal;
  ssh_callbacks_init(&program.callbacks);
  ssh_set_channel_callbacks(program.asked.channel, &program.callbacks);
  return program.asked.channel;
}

class Server {
 public:
  explicit Server(GateLink& gate) : gate_(gate), session_(ssh_new()) {
    ssh_callbacks_init(&on_session_);
  }
  ~Server() {
    ssh_disconnect(session_);
    ssh_free(session_);
    ssh_bind_free(bind_);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  Status run(sys::Fd wire, const std::string& host_key) {
    PD_TRY(shake_hands(std::move(wire), host_key));
    PD_TRY(wait_for_command());
    const Asked& asked = program_.asked;
    gate_.queue(SshFrameKind::request,
                wire::join_fields({asked.user, asked.kind, asked.command, asked.git_protocol}));
    const int none = -1;
    return ChannelRelay(session_, program_.asked.channel, gate_, Side::program).run(none);
  }

 private:
  Error failed(const std::string& doing, const char* why) const {
    return Error(Code::unavailable, "ssh: " + doing + ": " + printable(why));
  }

  Status shake_hands(sys::Fd wire, const std::string& host_key) {
    bind_ = ssh_bind_new();
    const bool no = false;
    const long patience = kAskPatience.count();
    ssh_key key = nullptr;
    if (ssh_pki_import_privkey_base64(host_key.c_str(), nullptr, nullptr, nullptr, &key) !=
        SSH_OK) {
      return Error(Code::data_corrupt, "the host key cannot be read");
    }
    ssh_bind_options_set(bind_, SSH_BIND_OPTIONS_PROCESS_CONFIG, &no);
    ssh_bind_options_set(bind_, SSH_BIND_OPTIONS_IMPORT_KEY, key);
    // libssh owns the descriptor from here on.
    if (ssh_bind_accept_fd(bind_, session_, wire.release()) != SSH_OK) {
      return failed("beginning", ssh_get_error(bind_));
    }
    ssh_options_set(session_, SSH_OPTIONS_TIMEOUT, &patience);
    on_session_.userdata = &program_;
    on_session_.auth_none_function = let_in;
    on_session_.channel_open_request_session_function = open_channel;
    ssh_set_server_callbacks(session_, &on_session_);
    ssh_set_auth_methods(session_, SSH_AUTH_METHOD_NONE);
    if (ssh_handle_key_exchange(session_) != SSH_OK) {
      return failed("agreeing on keys", ssh_get_error(session_));
    }
    return {};
  }

  Status wait_for_command() {
    ssh_event event = ssh_event_new();
    ssh_event_add_session(event, session_);
    const auto end = Clock::now() + kAskPatience;
    Status status;
    while (program_.asked.kind.empty() && status.ok()) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
      if (left <= 0) status = Error(Code::timed_out, "ssh: no command within 30 s");
      if (status.ok() && ssh_event_dopoll(event, static_cast<int>(left)) == SSH_ERROR) {
        status = failed("waiting for a command", ssh_get_error(session_));
      }
    }
    ssh_event_remove_session(event, session_);
    ssh_event_free(event);
    return status;
  }

  GateLink& gate_;
  ssh_session session_;
  ssh_bind bind_ = nullptr;
  Program program_;
  ssh_server_callbacks_struct on_session_{};
};

}  // namespace

Status serve(sys::Fd wire, GateLink& gate) {
  const wire::SshFrame setup = PD_TRY(gate.wait_frame());
  const std::vector<std::string> fields = wire::split_fields(setup.payload);
  if (setup.kind != SshFrameKind::setup || fields.size() != 1) {
    return Error(Code::data_corrupt, "a setup that is none");
  }
  PD_TRY(confine({}));
  return Server(gate).run(std::move(wire), fields[0]);
}

}  // namespace paddock::ssh
