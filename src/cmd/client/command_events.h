// A command of the daemon's as if it ran here: its events as they come, with signals, input and the
// terminal's size sent beside them.
#pragma once

#include <boost/json.hpp>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "cmd/client/daemon_client.h"
#include "cmd/client/input_pump.h"
#include "model/outcome.h"
#include "model/paths.h"
#include "sys/signal_fd.h"
#include "sys/terminal.h"

namespace paddock::cmd {

// Used by one thread.
class CommandEvents {
 public:
  enum class Input { none, pass_on, until_detached };
  // What becomes of the command when this end of it hangs up.
  enum class OnHangup { signal, detach };
  struct Options {
    model::HostPath home;
    std::string sandbox;  // its id
    Input input = Input::none;
    bool terminal = false;  // stdin is one, and is made raw while the command runs
    OnHangup on_hangup = OnHangup::signal;
  };
  explicit CommandEvents(Options options)
      : options_(std::move(options)), base_("/paddock/v1/sandboxes/" + options_.sandbox) {}

  // Sends the request and follows the command to its end. nullopt: it was left, and goes on.
  Result<std::optional<model::Outcome>> follow(const DaemonCall::Request& request);

 private:
  Status wait(const DaemonCall& call, sys::SignalFd& signals);
  void pass_on(int number);
  void resize();
  Status take(const std::string& bytes);
  Status take_event(const std::string& line);
  Status begin(const boost::json::object& event);

  Options options_;
  std::string base_;
  std::string pid_;
  std::string buffer_;
  bool is_left_ = false;
  std::optional<model::Outcome> outcome_;
  std::optional<sys::RawMode> raw_;
  std::unique_ptr<InputPump> pump_;
};

}  // namespace paddock::cmd
