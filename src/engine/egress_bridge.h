// Between the agent of one sandbox and what it may reach: turns the agent's questions into the
// gate's, and carries the bytes of connections from the agent's streams to sockets that the gate
// holds, or to sockets of the host.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "egress/gate.h"
#include "engine/agent_link.h"
#include "engine/gate_endings.h"
#include "engine/host_sockets.h"
#include "model/ids.h"
#include "sys/epoll.h"
#include "sys/fd.h"
#include "sys/timer_fd.h"
#include "wire/carried_stream.h"

namespace paddock::engine {

// Everything that comes from the agent is hostile: questions are answered one by one without being
// kept, connections are at most wire::kMaxConnections, and each holds no more bytes than its
// credit. Used by the thread that drives the link, and never waits: the gate decides at once and is
// told of in sockets; what it says on its own threads comes through GateEndings. Owns the near ends
// of the sockets; destroying it breaks every connection off. Gate and link outlive it.
class EgressBridge {
 public:
  // Numbers below and beyond are for other streams.
  static constexpr wire::StreamId kFirstStream = 16;
  static constexpr wire::StreamId kLastStream = 0x7fffffff;

  // `sockets`: of the host that were given; nullptr: none. They outlive the bridge, too.
  static Result<std::unique_ptr<EgressBridge>> make(egress::Gate& gate, model::SandboxId sandbox,
                                                    AgentLink& link,
                                                    const HostSockets* sockets = nullptr);
  ~EgressBridge();

  // Readable when on_ready() has something to do.
  int fd() const { return epoll_.fd(); }
  void on_ready();

  void take(const wire::NameQuery& query);
  void take(const wire::ConnectQuery& query);
  bool owns(wire::StreamId stream) const { return connections_.contains(stream); }
  void take(wire::StreamData data);
  void take(const wire::StreamEnd& end);
  void take(const wire::StreamReset& reset);
  void take(const wire::StreamAbort& abort);
  void take(const wire::CreditGained& credit);

  // Moves bytes, as far as the channel should take them on. Returns whether more could be moved at
  // once.
  bool pump();
  // Whether programs have sent something that the gate has not taken yet, or may still do so: a
  // program that says its last words and ends is heard out.
  bool is_sending() const;

 private:
  using HostStream = wire::CarriedStream<wire::HostChannel>;

  struct Connection {
    sys::SocketFd socket;
    std::unique_ptr<HostStream> stream;
    bool readable = true;
    bool writable = true;
    bool read_ended = false;
    bool aborted = false;          // by the gate: what it wrote until then is still carried
    std::optional<SocketUse> use;  // of a socket of the host; else it is the gate's
  };
  // A program's connection to a socket of the host whose queue is full.
  struct Dialling {
    wire::ConnectQuery query;
    SocketUse use;
    int64_t until_us;
  };

  EgressBridge(egress::Gate& gate, model::SandboxId sandbox, AgentLink& link, sys::Epoll epoll,
               std::shared_ptr<GateEndings> endings, sys::TimerFd timer);
  // Gives the gate one end of a new socket pair; the other is carried over the stream that it
  // returns.
  Result<wire::StreamId> open(const wire::ConnectQuery& query);
  void dial(Dialling dialling);
  void dial_again();
  wire::StreamId next_stream();
  Result<wire::StreamId> carry(wire::StreamId id, sys::SocketFd socket,
                               std::optional<SocketUse> use);
  void answer(uint32_t query, const Result<wire::StreamId>& stream);
  Connection* wake(wire::StreamId stream);
  bool pump_one(wire::StreamId id);
  static void write_out(Connection& connection);
  bool read_in(Connection& connection);
  void note_endings();
  void drop(wire::StreamId id);
  void post(wire::ToAgent message);

  egress::Gate& gate_;
  model::SandboxId sandbox_;
  AgentLink& link_;
  const HostSockets* sockets_ = nullptr;
  wire::HostChannel& channel_;  // of the link
  sys::Epoll epoll_;
  std::shared_ptr<GateEndings> endings_;
  sys::TimerFd timer_;
  std::vector<Dialling> dialling_;
  std::map<wire::StreamId, Connection> connections_;
  std::set<wire::StreamId> ready_;
  wire::StreamId last_stream_ = kFirstStream - 1;
  wire::StreamId last_pumped_ = 0;
  std::vector<char> buffer_;
};

}  // namespace paddock::engine
