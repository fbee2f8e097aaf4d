// Where a process that owns a sandbox is told to change something of it: a unix socket in the
// sandbox's directory.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/result.h"
#include "engine/change_request.h"
#include "model/paths.h"
#include "sys/fd.h"

namespace paddock::engine {

// Owns the socket `control` in the directory (mode 0600; the directory is 0700) and a thread that
// serves it, one request at a time, each read and answered within a second or dropped. Who asks
// must be of our own user, as the kernel says, or root. Destroying it ends the thread.
class ControlSocket {
 public:
  // On the thread of this object.
  using Handler = std::function<Result<std::string>(const ChangeRequest&)>;

  static Result<std::unique_ptr<ControlSocket>> open(const model::HostPath& directory,
                                                     Handler handler);
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

 private:
  ControlSocket(sys::SocketFd listener, sys::Fd stop, Handler handler);
  void serve();
  void answer(const sys::SocketFd& client) const;

  sys::SocketFd listener_;
  sys::Fd stop_;
  Handler handler_;
  std::thread thread_;
};

// Whether a process serves, or served, the directory.
bool has_control(const model::HostPath& directory);
// The other side. unavailable: nobody serves the directory (any more).
Result<std::string> ask_control(const model::HostPath& directory, const ChangeRequest& request);

}  // namespace paddock::engine
