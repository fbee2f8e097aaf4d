// An adopted agent without its host, and the host that comes back.
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "agent/agent.h"

namespace paddock::agent {

Status Agent::on_adopt() {
  if (bound_ || !listener_.is_open() || !timers_.is_set({TimerKind::sandbox_deadline})) {
    return Error(Code::failed_precondition,
                 "a sandbox that outlives its host needs a deadline and a socket to come back by");
  }
  adopted_ = true;
  return {};
}

// Nothing of what it was told waits any more: each of its streams and requests was of that channel.
void Agent::lose_host() {
  if (stream_.is_open()) epoll_.remove(stream_);
  stream_.reset();
  for (auto& [id, command] : commands_) command->on_host_gone();
  name_queries_.on_host_gone();
  if (way_out_) way_out_->on_host_gone();
  way_in_.on_host_gone();
}

// What a host has said before it went is still done: input that it took for its clients, a signal.
void Agent::hear_out() {
  constexpr int kReads = 16;  // more than the socket holds
  for (int i = 0; i < kReads && read_stream().ok(); ++i) {
  }
  (void)take_stream_events().ok();
}

// The newest host is the one that counts: of two the older one is not there any more, or is not to
// be. Before the agent is adopted the host that started it is the only one.
void Agent::take_in_host() {
  sys::Fd stream(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!stream.is_open() || !adopted_) return;
  hear_out();
  lose_host();
  stream_ = std::move(stream);
  stream_is_full_ = false;
  channel_ = wire::AgentChannel();
  must_resume_ = true;
  if (!watch_stream().ok() || !say_hello().ok()) on_stream_lost();
}

Status Agent::on_resume(const wire::ToAgent& message) {
  must_resume_ = false;
  name_queries_.on_host_back();
  if (way_out_) way_out_->on_host_back();
  auto tell = [&](const Command& command) {
    wire::ToHost state;
    *state.mutable_command_state() = command.state();
    return channel_.send(state);
  };
  for (const Command* command : ended_.all()) PD_TRY(tell(*command));
  for (const auto& [id, command] : commands_) {
    if (command->is_kept()) PD_TRY(tell(*command));
  }
  wire::ToHost done;
  done.set_request(message.request());
  done.mutable_done()->set_last_command(last_command_);
  return channel_.send(done);
}

void Agent::on_attach(const wire::ToAgent& message) {
  const wire::Attach& request = message.attach();
  if (auto ended = ended_.take(request.command())) {
    commands_.emplace(request.command(), std::move(ended));
  }
  Result<wire::Attached> attached = Error::from_errno(ESRCH, "attaching to the command");
  if (Command* command = find(request.command())) {
    attached = command->attach(request);
  } else {
    for (auto stream : {request.stdin_stream(), request.stdout_stream(), request.stderr_stream()}) {
      channel_.close_stream(stream);
    }
  }
  if (!attached.ok()) return answer(message.request(), std::move(attached).error());
  wire::ToHost reply;
  reply.set_request(message.request());
  *reply.mutable_attached() = *attached;
  (void)channel_.send(reply).ok();
}

}  // namespace paddock::agent
