// The conversation with one agent, on a loop: requests that wait for their answers beside each
// other, streams, and what the agent says by itself.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/agent_link.h"
#include "engine/egress_bridge.h"
#include "net/condition.h"
#include "net/socket_stream.h"
#include "sys/fd.h"
#include "wire/agent.pb.h"

namespace paddock::engine {

// Whom a stream's events are for. Called on the loop's thread; may not wait.
class StreamUser {
 public:
  virtual ~StreamUser() = default;
  virtual void on_data(wire::StreamId stream, std::string bytes) = 0;
  virtual void on_end(wire::StreamId stream) = 0;
  virtual void on_reset(wire::StreamId stream) = 0;
  virtual void on_credit(wire::StreamId stream) = 0;
  // Broken off by the agent, or with the session.
  virtual void on_abort(wire::StreamId) {}
};

// Takes over where the handshake ended. Used on its loop's thread. Once the agent breaks the
// protocol or is gone the session is dead: requests fail, and `on_dead` is called, once.
class AgentSession : public std::enable_shared_from_this<AgentSession> {
 public:
  struct Listener {
    std::function<void(wire::ToHost)> on_message;  // that answers no request
    std::function<void(const Error&)> on_dead;
  };
  // `link` speaks over the sandbox's descriptor, which must live until close(); `waiting` is a
  // duplicate of it.
  AgentSession(net::Loop& loop, std::unique_ptr<AgentLink> link, sys::SocketFd waiting,
               Listener listener);

  // What its programs send out and ask for goes through the bridge, which is made over the same
  // link. Before start(); without one every question is refused.
  void carry(std::unique_ptr<EgressBridge> bridge);
  void start();
  // Ends the conversation without a word, and the sandbox with it when it is bound.
  void close();
  bool is_dead() const { return dead_; }

  // unavailable: the agent is gone. timed_out: it does not answer. The agent's refusal is
  // failed_precondition with its errno, if it has one.
  Result<wire::ToHost> call(net::Task& task, wire::ToAgent message,
                            std::chrono::milliseconds patience = std::chrono::seconds(30));

  // What is answered by nothing.
  void tell(wire::ToAgent message);

  // Opens a stream whose events go to `user`, which must close it before it goes away.
  Result<wire::StreamId> open_stream(StreamUser& user, uint32_t credit = wire::kInitialCredit);
  void close_stream(wire::StreamId stream);
  // Tells the agent that it is broken.
  void abort_stream(wire::StreamId stream);
  size_t sendable(wire::StreamId stream) const;
  void send_data(wire::StreamId stream, std::string_view bytes);
  void end_stream(wire::StreamId stream);
  void consumed(wire::StreamId stream, size_t count);

 private:
  struct Call {
    explicit Call(net::Loop& loop) : done(loop) {}
    net::Event done;
    std::optional<wire::ToHost> answer;
  };

  void read(net::Task& task);
  void write(net::Task& task);
  void watch_bridge(net::Task& task);
  void move(net::Task& task);
  void dispatch();
  void refuse(const wire::ToHost& question);
  bool take_egress(wire::HostChannel::Event& event);
  void take(wire::ToHost message);
  void flush();
  void die(const Error& why);

  net::Loop& loop_;
  std::unique_ptr<AgentLink> link_;
  net::SocketStream waiting_;
  Listener listener_;
  net::Condition must_write_;
  net::Condition has_room_;
  std::unique_ptr<EgressBridge> bridge_;  // over link_
  std::unique_ptr<net::SocketStream> bridge_events_;
  bool moving_ = false;
  std::map<uint64_t, std::shared_ptr<Call>> calls_;
  std::map<wire::StreamId, StreamUser*> users_;
  wire::StreamId last_stream_ = EgressBridge::kLastStream;  // ours lie beyond
  bool dead_ = false;
};

}  // namespace paddock::engine
