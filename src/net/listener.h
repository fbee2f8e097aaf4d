// Accepting connections: TCP, unix sockets.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "model/ip_address.h"
#include "net/socket_stream.h"

namespace paddock::net {

// Owns a listening socket. Used on its loop's thread, but for its making; must not outlive the
// loop.
class Listener {
 public:
  // Port 0: one that is free. already_exists: somebody else listens there.
  static Result<std::unique_ptr<Listener>> open(Loop& loop, const model::IpAddress& address,
                                                uint16_t port);
  // At `path`, for its owner alone (0600) from its first moment. What a listener that died left
  // there is replaced: whoever calls makes sure that none lives. The file stays when this goes.
  static Result<std::unique_ptr<Listener>> open_unix(Loop& loop, const std::string& path);
  ~Listener();

  uint16_t port() const { return port_; }  // 0: a unix socket
  // Waits. An error is the end: the loop ends, or close() was called. A peer that is gone already
  // and a shortage of descriptors are waited out here.
  Result<std::unique_ptr<SocketStream>> accept(Task& task);
  // From now on the port is free, and accept() fails.
  void close();

 private:
  struct Impl;
  Listener(std::unique_ptr<Impl> impl, uint16_t port);

  std::unique_ptr<Impl> impl_;
  uint16_t port_;
};

}  // namespace paddock::net
