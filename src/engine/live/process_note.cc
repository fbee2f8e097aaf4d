#include "engine/live/process_note.h"

#include "wire/agent.pb.h"
#include "wire/frame.h"

namespace paddock::engine {

// A Start says all of it already.
std::string note_of(const ProcessRequest& request) {
  wire::Start start;
  for (const std::string& word : request.argv) start.add_argv(word);
  for (const auto& [name, value] : request.environment) start.add_environment(name + "=" + value);
  start.set_directory(request.directory);
  if (request.terminal) {
    start.mutable_terminal()->set_rows(request.terminal->rows);
    start.mutable_terminal()->set_columns(request.terminal->columns);
  }
  start.set_timeout_ms(request.timeout_ms);
  start.set_note(request.tag);
  if (start.ByteSizeLong() > wire::kMaxNote) start.clear_environment();
  while (start.argv_size() > 0 && start.ByteSizeLong() > wire::kMaxNote) {
    start.mutable_argv()->RemoveLast();
  }
  if (start.ByteSizeLong() > wire::kMaxNote) start.Clear();
  return start.SerializeAsString();
}

Result<ProcessRequest> request_of(std::string_view note) {
  wire::Start start;
  if (!start.ParseFromArray(note.data(), static_cast<int>(note.size()))) {
    return Error(Code::data_corrupt, "what was kept with a command is not what was written");
  }
  ProcessRequest request;
  request.argv.assign(start.argv().begin(), start.argv().end());
  for (const std::string& variable : start.environment()) {
    const size_t equals = variable.find('=');
    if (equals == std::string::npos) continue;
    request.environment.emplace(variable.substr(0, equals), variable.substr(equals + 1));
  }
  request.directory = start.directory();
  if (start.has_terminal()) {
    request.terminal = TerminalSize{start.terminal().rows(), start.terminal().columns()};
  }
  request.timeout_ms = start.timeout_ms();
  request.tag = start.note();
  return request;
}

}  // namespace paddock::engine
