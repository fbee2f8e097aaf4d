// The far end of an AgentLink for tests: a thread that speaks the agent's side of the protocol and
// does what its script says, and a Sandbox whose stream leads to it. No process, no kernel object.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "isolation/backend.h"
#include "wire/channel.h"

namespace paddock::engine::testing {

// What a script works with. Blocking: the script is a straight story.
class AgentSide {
 public:
  explicit AgentSide(sys::Fd socket) : socket_(std::move(socket)) {}

  wire::AgentChannel& channel() { return channel_; }

  void flush() {
    while (!channel_.output().empty()) {
      ssize_t n = ::write(socket_.get(), channel_.output().data(), channel_.output().size());
      if (n <= 0) return;
      channel_.written(static_cast<size_t>(n));
    }
  }

  // nullopt: the host has gone.
  std::optional<wire::AgentChannel::Event> next() {
    while (true) {
      if (auto event = channel_.next_event()) return event;
      flush();
      std::array<char, 65536> buffer;
      ssize_t n = ::read(socket_.get(), buffer.data(), buffer.size());
      if (n <= 0 || !channel_.receive({buffer.data(), static_cast<size_t>(n)}).ok()) return {};
    }
  }

  // Waits for Start, whose streams are open with it, and answers.
  wire::Start take_start() {
    while (auto event = next()) {
      auto* message = std::get_if<wire::ToAgent>(&*event);
      if (message == nullptr || !message->has_start()) continue;
      wire::Start start = message->start();
      wire::ToHost started;
      started.mutable_started()->set_command(start.command());
      if (!channel_.send(started).ok()) std::abort();
      flush();
      return start;
    }
    return {};
  }

  // Sends all of it, waiting for credit. False: the host has gone or does not want it.
  bool send(wire::StreamId stream, std::string_view bytes) {
    while (!bytes.empty()) {
      size_t room = std::min(bytes.size(), channel_.sendable(stream));
      if (room == 0) {
        auto event = next();
        if (!event || std::holds_alternative<wire::StreamReset>(*event)) return false;
        continue;
      }
      channel_.send_data(stream, bytes.substr(0, room));
      bytes.remove_prefix(room);
      flush();
    }
    return true;
  }

  // Bytes that are not the channel's: what a hostile agent would send.
  void inject(std::string_view bytes) {
    if (::write(socket_.get(), bytes.data(), bytes.size()) < 0) std::abort();
  }

  void end(uint32_t command, wire::Ended::How how, int code) {
    channel_.end_stream(2);
    channel_.end_stream(3);
    wire::ToHost message;
    message.mutable_ended()->set_command(command);
    message.mutable_ended()->set_how(how);
    message.mutable_ended()->set_code(code);
    if (!channel_.send(message).ok()) std::abort();
    flush();
  }

 private:
  sys::Fd socket_;
  wire::AgentChannel channel_;
};

using Script = std::function<void(AgentSide&)>;

class ScriptedSandbox : public isolation::Sandbox {
 public:
  explicit ScriptedSandbox(Script script) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) std::abort();
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    stream_ = sys::SocketFd(ends[0]);
    thread_ = std::thread([far = ends[1], script = std::move(script)] {
      // Signals of the test are for the relay's thread.
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      AgentSide side{sys::Fd(far)};
      script(side);
    });
  }
  ~ScriptedSandbox() override {
    (void)destroy().ok();
    thread_.join();
  }

  const sys::SocketFd& stream() const override { return stream_; }
  const sys::PidFd& agent() const override { return agent_; }
  wire::Setup setup() const override { return {}; }
  std::vector<std::string> check(const wire::Evidence&) const override { return {}; }
  void confine(wire::Start&) const override {}
  const std::vector<model::Control>& controls() const override { return controls_; }
  std::vector<model::Denial> limits_hit() override { return {}; }
  bool oom_killed() override { return oom; }
  model::Usage usage() override { return {}; }
  model::Control pausing() const override { return {"pause", {}, ""}; }
  Status freeze() override {
    frozen = true;
    return freezing;
  }
  Status thaw() override {
    frozen = false;
    return {};
  }
  Status replace_files(const model::FileSystem&) override { return {}; }
  Status destroy() override {
    destroyed = true;
    ::shutdown(stream_.get(), SHUT_RDWR);
    return {};
  }
  void let_go() override { left = true; }

  bool oom = false;
  bool left = false;
  bool destroyed = false;
  bool frozen = false;
  Status freezing;  // what freeze() answers

 private:
  sys::SocketFd stream_;
  sys::PidFd agent_;
  std::vector<model::Control> controls_;
  std::thread thread_;
};

}  // namespace paddock::engine::testing
