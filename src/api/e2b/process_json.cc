#include "api/e2b/process_json.h"

#include <fmt/core.h>
#include <string.h>

#include "api/e2b/json.h"
#include "base/base64.h"

namespace paddock::api::e2b {
namespace {

using boost::json::object;
using engine::OutputKind;

object event(std::string_view kind, object body) {
  object inner;
  inner[kind] = std::move(body);
  object outer;
  outer["event"] = std::move(inner);
  return outer;
}

Result<std::vector<std::string>> arguments_of(const object& process) {
  std::vector<std::string> out;
  const auto* value = process.if_contains("args");
  if (value == nullptr || value->is_null()) return out;
  const Error wrong(Code::invalid_argument, "'args' must be a list of strings");
  if (!value->is_array()) return wrong;
  for (const auto& word : value->get_array()) {
    if (!word.is_string()) return wrong;
    out.emplace_back(word.get_string());
  }
  return out;
}

// As Go's os.ProcessState says it, which clients show.
std::string status_of(const wire::Ended& ended) {
  switch (ended.how()) {
    case wire::Ended::SIGNALLED: {
      const char* description = ::strsignal(ended.code());
      std::string text = description == nullptr ? "unknown" : description;
      if (!text.empty()) text[0] = static_cast<char>(::tolower(text[0]));
      return "signal: " + text + (ended.core_dumped() ? " (core dumped)" : "");
    }
    case wire::Ended::NOT_FOUND:
      return "exit status 127";
    case wire::Ended::NOT_EXECUTABLE:
      return "exit status 126";
    default:
      return fmt::format("exit status {}", ended.code() & 0xff);
  }
}

int exit_code_of(const wire::Ended& ended) {
  if (ended.how() == wire::Ended::NOT_FOUND) return 127;
  if (ended.how() == wire::Ended::NOT_EXECUTABLE) return 126;
  return ended.how() == wire::Ended::EXITED ? ended.code() & 0xff : -1;
}

}  // namespace

Result<engine::TerminalSize> terminal_size(const object& pty) {
  engine::TerminalSize size;
  const auto given = PD_TRY(object_field(pty, "size"));
  if (!given) return size;
  const int64_t columns = PD_TRY(number_field(*given, "cols")).value_or(size.columns);
  const int64_t rows = PD_TRY(number_field(*given, "rows")).value_or(size.rows);
  if (columns < 1 || columns > 65535 || rows < 1 || rows > 65535) {
    return Error(Code::invalid_argument, "a terminal has 1 to 65535 rows and columns");
  }
  size.columns = static_cast<uint32_t>(columns);
  size.rows = static_cast<uint32_t>(rows);
  return size;
}

Result<engine::ProcessRequest> process_request(const object& start) {
  const auto process = PD_TRY(object_field(start, "process"));
  if (!process) return Error(Code::invalid_argument, "'process' is missing");
  engine::ProcessRequest request;
  const std::string command = PD_TRY(text_field(*process, "cmd")).value_or("");
  if (command.empty()) return Error(Code::invalid_argument, "'cmd' is missing");
  request.argv = PD_TRY(arguments_of(*process));
  request.argv.insert(request.argv.begin(), command);
  request.environment = PD_TRY(map_field(*process, "envs"));
  for (const auto& [name, value] : request.environment) {
    if (name.empty() || name.find('=') != std::string::npos) {
      return Error(Code::invalid_argument, "a variable's name is empty or holds '='");
    }
  }
  request.directory = PD_TRY(text_field(*process, "cwd")).value_or("");
  request.tag = PD_TRY(text_field(start, "tag")).value_or("");
  if (const auto pty = PD_TRY(object_field(start, "pty"))) {
    request.terminal = PD_TRY(terminal_size(*pty));
  }
  // Clients that know no such field expect to be able to write.
  const bool input = PD_TRY(flag_field(start, "stdin")).value_or(true);
  request.input = input ? engine::ProcessRequest::Input::open : engine::ProcessRequest::Input::none;
  return request;
}

Result<Input> input_of(const object& message) {
  const auto input = PD_TRY(object_field(message, "input"));
  if (!input) return Error(Code::invalid_argument, "'input' is missing");
  auto text = PD_TRY(text_field(*input, "stdin"));
  if (!text) text = PD_TRY(text_field(*input, "pty"));
  if (!text) return Input{};
  auto bytes = base64_decode(*text);
  if (!bytes.ok()) return Error(Code::invalid_argument, "'input' is no base64");
  return Input{std::move(*bytes)};
}

object start_event(int pid) {
  object body;
  body["pid"] = pid;
  return event("start", std::move(body));
}

object keepalive_event() {
  return event("keepalive", {});
}

object data_event(const engine::OutputData& data) {
  object body;
  const char* field = data.kind == OutputKind::terminal          ? "pty"
                      : data.kind == OutputKind::standard_output ? "stdout"
                                                                 : "stderr";
  body[field] = base64_encode(data.bytes);
  return event("data", std::move(body));
}

object end_event(const wire::Ended& ended) {
  const int code = exit_code_of(ended);
  object body;
  body["exitCode"] = code;
  body["exited"] = ended.how() != wire::Ended::SIGNALLED;
  body["status"] = status_of(ended);
  if (code != 0) body["error"] = status_of(ended);
  return event("end", std::move(body));
}

object to_json(const engine::Process& process) {
  const engine::ProcessRequest& request = process.request();
  object config;
  config["cmd"] = request.argv.front();
  boost::json::array arguments;
  for (size_t i = 1; i < request.argv.size(); ++i) {
    arguments.emplace_back(request.argv[i]);
  }
  config["args"] = std::move(arguments);
  object variables;
  for (const auto& [name, value] : request.environment) variables[name] = value;
  if (!variables.empty()) config["envs"] = std::move(variables);
  if (!request.directory.empty()) config["cwd"] = request.directory;
  object out;
  out["config"] = std::move(config);
  out["pid"] = process.pid();
  if (!request.tag.empty()) out["tag"] = request.tag;
  return out;
}

}  // namespace paddock::api::e2b
