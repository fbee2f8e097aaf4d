// What is typed or piped in, on its way to a command of the daemon's.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "cmd/client/daemon_client.h"
#include "cmd/client/detach_keys.h"
#include "model/paths.h"
#include "sys/fd.h"

namespace paddock::cmd {

// A thread of its own: a command that does not read its input must not keep us from reading its
// output. Destroying it ends the thread, whatever it waits for.
class InputPump {
 public:
  // Whether the keys by which one leaves are looked for.
  enum class Keys { none, detach };
  // Reads `from` to its end; `target` is where the command's input is sent.
  static Result<std::unique_ptr<InputPump>> start(model::HostPath home, std::string target,
                                                  int from, Keys keys = Keys::none);
  ~InputPump();
  // Becomes readable when the keys were typed by which one leaves.
  int detached_fd() const { return detached_read_.get(); }

 private:
  InputPump() = default;
  void run();
  // False: nothing more is to be sent.
  bool send(std::string bytes);
  bool end();
  bool perform(const DaemonCall::Request& request);

  model::HostPath home_;
  std::string target_;
  int from_ = 0;
  Keys keys_ = Keys::none;
  DetachKeys typed_;
  sys::Fd detached_read_;
  sys::Fd detached_write_;
  sys::Fd wake_read_;
  sys::Fd wake_write_;
  std::mutex mutex_;
  DaemonCall* current_ = nullptr;  // guarded by mutex_
  bool ending_ = false;            // guarded by mutex_
  std::thread thread_;
};

}  // namespace paddock::cmd
