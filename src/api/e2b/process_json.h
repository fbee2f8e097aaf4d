// process.Process: its messages to and from the engine's values. Pure.
#pragma once

#include <boost/json.hpp>

#include "base/result.h"
#include "engine/live/process.h"

namespace paddock::api::e2b {

// invalid_argument names the field. The directory is as the client wrote it.
Result<engine::ProcessRequest> process_request(const boost::json::object& start);
Result<engine::TerminalSize> terminal_size(const boost::json::object& pty);

struct Input {
  std::string bytes;
};
Result<Input> input_of(const boost::json::object& message);

boost::json::object start_event(int pid);
boost::json::object keepalive_event();
boost::json::object data_event(const engine::OutputData& data);
// Of a command that ended by itself or by a signal.
boost::json::object end_event(const wire::Ended& ended);
boost::json::object to_json(const engine::Process& process);

}  // namespace paddock::api::e2b
