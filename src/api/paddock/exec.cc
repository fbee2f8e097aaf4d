// Commands of our own surface: run with their output and outcome as lines of JSON, fed, signalled.
#include <signal.h>

#include <boost/json.hpp>
#include <chrono>
#include <utility>

#include "api/e2b/json.h"
#include "api/paddock/lines.h"
#include "api/paddock/request.h"
#include "base/base64.h"
#include "base/strings.h"
#include "engine/live/guest_files.h"
#include "model/json.h"

namespace paddock::api::own {
namespace {

using boost::json::object;
using engine::Process;
using std::chrono::milliseconds;

constexpr milliseconds kInputPatience{60'000};
constexpr uint64_t kMaxTimeoutMs = 7ull * 86'400'000;
constexpr size_t kMaxArguments = 4096;

enum class OnLeave { keep, kill };

struct Wanted {
  engine::ProcessRequest process;
  OnLeave on_leave = OnLeave::keep;
};

Error wrong(std::string what) {
  return Error(Code::invalid_argument, std::move(what));
}

Result<std::vector<std::string>> arguments_of(const object& body) {
  const Error bad = wrong("'argv' must be a list of one or more strings");
  const auto* value = body.if_contains("argv");
  if (value == nullptr || !value->is_array() || value->get_array().empty()) return bad;
  if (value->get_array().size() > kMaxArguments) return wrong("'argv' is too long");
  std::vector<std::string> out;
  for (const auto& word : value->get_array()) {
    if (!word.is_string()) return bad;
    out.emplace_back(word.get_string());
  }
  return out;
}

Result<engine::TerminalSize> size_of(const object& from) {
  const auto rows = PD_TRY(e2b::number_field(from, "rows"));
  const auto columns = PD_TRY(e2b::number_field(from, "columns"));
  auto fits = [](std::optional<int64_t> number) {
    return number && *number >= 1 && *number <= 65'535;
  };
  if (!fits(rows) || !fits(columns)) return wrong("'rows' and 'columns' must be 1 to 65535");
  return engine::TerminalSize{static_cast<uint32_t>(*rows), static_cast<uint32_t>(*columns)};
}

Result<Wanted> wanted_of(const Request& request, const engine::LiveSandbox& sandbox) {
  const object body = PD_TRY(read_object(request, {"argv", "environment", "directory", "terminal",
                                                   "input", "timeout_ms", "tag", "on_leave"}));
  Wanted wanted;
  wanted.process = PD_TRY(command_of(body));
  wanted.process.directory = PD_TRY(directory_of(wanted.process.directory, sandbox));
  const std::string on_leave = PD_TRY(e2b::text_field(body, "on_leave")).value_or("keep");
  if (on_leave != "keep" && on_leave != "kill") return wrong("'on_leave' must be keep or kill");
  wanted.on_leave = on_leave == "kill" ? OnLeave::kill : OnLeave::keep;
  return wanted;
}
struct Found {
  std::shared_ptr<engine::LiveSandbox> sandbox;
  std::shared_ptr<Process> process;
};

Result<Found> process_of(const Request& request) {
  Found found;
  found.sandbox = PD_TRY(awake_sandbox_of(request));
  const auto pid = parse_u64(request.names[1]);
  if (pid && *pid <= INT32_MAX) {
    found.process = found.sandbox->find_process(static_cast<int>(*pid));
  }
  if (found.process) return found;
  return Error(Code::not_found, "no process " + printable(request.names[1].substr(0, 20)) +
                                    " in sandbox " + found.sandbox->id());
}

Status take_input(const Request& request, Process& process) {
  while (true) {
    char piece[16384];
    const size_t count = PD_TRY(request.exchange.read_body(request.task, piece));
    if (count == 0) break;
    PD_TRY(process.send_input(request.task, {piece, count}, kInputPatience));
  }
  if (request.query("end") == "1") process.close_input();
  return {};
}

Status done(const Request& request, const Status& status) {
  return status.ok() ? answer_nothing(request) : answer_error(request, status.error());
}

}  // namespace

Result<engine::ProcessRequest> command_of(const object& body) {
  engine::ProcessRequest process;
  process.argv = PD_TRY(arguments_of(body));
  process.environment = PD_TRY(e2b::map_field(body, "environment"));
  process.directory = PD_TRY(e2b::text_field(body, "directory")).value_or("");
  process.tag = PD_TRY(e2b::text_field(body, "tag")).value_or("");
  const int64_t timeout = PD_TRY(e2b::number_field(body, "timeout_ms")).value_or(0);
  if (timeout < 0 || static_cast<uint64_t>(timeout) > kMaxTimeoutMs) {
    return wrong("'timeout_ms' must be 0 to 7 days");
  }
  process.timeout_ms = static_cast<uint64_t>(timeout);
  if (const auto terminal = PD_TRY(e2b::object_field(body, "terminal"))) {
    process.terminal = PD_TRY(size_of(*terminal));
  }
  const bool input = PD_TRY(e2b::flag_field(body, "input")).value_or(false);
  process.input = input || process.terminal ? engine::ProcessRequest::Input::open
                                            : engine::ProcessRequest::Input::none;
  return process;
}

Result<std::string> directory_of(const std::string& named, const engine::LiveSandbox& sandbox) {
  const std::string& home = sandbox.setup().home;
  if (!sandbox.workspace() || named.starts_with("~")) {
    return engine::guest_path(named, home, sandbox.setup().start_directory());
  }
  return engine::guest_path(named, sandbox.workspace()->directory.str());
}

Status exec(const Request& request) {
  auto sandbox = awake_sandbox_of(request);
  if (!sandbox.ok()) return answer_error(request, sandbox.error());
  auto wanted = wanted_of(request, **sandbox);
  if (!wanted.ok()) return answer_error(request, wanted.error());
  auto started = (*sandbox)->start(request.task, std::move(wanted->process));
  if (!started.ok()) return answer_error(request, started.error());
  Process& process = *started->process;
  const Status carried =
      send_lines(request, process, *started->reader, {(*sandbox)->setup().limits});
  if (!carried.ok() && wanted->on_leave == OnLeave::kill && !process.has_ended()) {
    started->reader.reset();  // what it still writes is dropped
    (void)process.signal(request.task, SIGKILL).ok();
  }
  return carried;
}

Status list_processes(const Request& request) {
  auto sandbox = sandbox_of(request);
  if (!sandbox.ok()) return answer_error(request, sandbox.error());
  boost::json::array list;
  for (const auto& process : (*sandbox)->processes()) {
    if (process->has_ended()) continue;
    object out{{"pid", process->pid()}, {"tag", process->request().tag}};
    model::put_bytes(out, "argv", process->request().argv);
    list.emplace_back(std::move(out));
  }
  return answer(request, 200, object{{"processes", std::move(list)}});
}

Status send_input(const Request& request) {
  auto found = process_of(request);
  if (!found.ok()) return answer_error(request, found.error());
  return done(request, take_input(request, *found->process));
}

Status send_signal(const Request& request) {
  auto found = process_of(request);
  if (!found.ok()) return answer_error(request, found.error());
  auto body = read_object(request, {"signal"});
  if (!body.ok()) return answer_error(request, body.error());
  auto number = e2b::number_field(*body, "signal");
  if (!number.ok()) return answer_error(request, number.error());
  if (!*number || **number < 1 || **number > SIGRTMAX) {
    return answer_error(request, wrong("'signal' must be a number of a signal"));
  }
  return done(request, found->process->signal(request.task, static_cast<int>(**number)));
}

Status resize(const Request& request) {
  auto found = process_of(request);
  if (!found.ok()) return answer_error(request, found.error());
  auto body = read_object(request, {"rows", "columns"});
  if (!body.ok()) return answer_error(request, body.error());
  auto size = size_of(*body);
  if (!size.ok()) return answer_error(request, size.error());
  return done(request, found->process->resize(request.task, *size));
}

}  // namespace paddock::api::own
