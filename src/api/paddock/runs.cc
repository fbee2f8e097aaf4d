// Detached runs: a sandbox that lives for one command, which clients come back to.
#include <boost/json.hpp>
#include <utility>

#include "api/e2b/json.h"
#include "api/paddock/lines.h"
#include "api/paddock/request.h"
#include "api/templates.h"
#include "base/base64.h"
#include "base/strings.h"
#include "engine/live/run_table.h"
#include "model/json.h"

namespace paddock::api::own {
namespace {

using boost::json::object;
using engine::EndedRun;
using engine::LiveSandbox;
using engine::Process;

object json_of(const EndedRun& run) {
  object out{{"id", run.sandbox}, {"state", "ended"}};
  model::put_bytes(out, "argv", run.argv);
  out["ended"] = e2b::timestamp(run.ended_ms);
  out["outcome"] = model::to_json(run.outcome);
  return out;
}

object json_of(const LiveSandbox& sandbox, const Process& process) {
  object out{{"id", sandbox.id()},
             {"state", name_of(engine::kSandboxStateNames, sandbox.info().state)},
             {"pid", process.pid()},
             {"terminal", process.request().terminal.has_value()}};
  const bool takes_input = process.request().input == engine::ProcessRequest::Input::open;
  out["input"] = takes_input;
  model::put_bytes(out, "argv", process.request().argv);
  return out;
}

Error no_run(const std::string& id) {
  return Error(Code::not_found, "no detached run " + printable(id.substr(0, 64)))
      .set_remedy("`paddock attach` lists them");
}

// nullopt: none of the caller's.
Result<std::optional<EndedRun>> ended_run_of(const Request& request) {
  const std::string& id = request.names.front();
  auto run = PD_TRY(request.parts.sandboxes.find_ended_run(request.task, id));
  if (run && !request.caller.may_see(run->owner)) run.reset();
  return run;
}

struct Going {
  std::shared_ptr<LiveSandbox> sandbox;
  std::shared_ptr<Process> process;
};
std::optional<Going> going_run_of(const Request& request) {
  auto sandbox = request.parts.sandboxes.find(request.names.front());
  if (!sandbox || !request.caller.may_see(sandbox->info().owner)) return std::nullopt;
  auto process = sandbox->main_process();
  if (!process) return std::nullopt;
  return Going{std::move(sandbox), std::move(process)};
}

Result<object> create(const Request& request) {
  const object body =
      PD_TRY(read_object(request, {"template", "timeout_s", "metadata", "workspace", "argv",
                                   "environment", "directory", "terminal", "input", "timeout_ms"}));
  engine::ProcessRequest command = PD_TRY(command_of(body));
  object of_sandbox = body;
  of_sandbox.erase("environment");  // the command's alone
  engine::CreateRequest wanted = PD_TRY(create_request(request, of_sandbox));
  wanted.command = command.argv;
  if (!body.contains("timeout_s")) {
    wanted.timeout_ms = static_cast<int64_t>(request.parts.settings.max_timeout_seconds) * 1000;
  }
  PD_TRY(find_origin({request.task, request.parts.sandboxes, request.caller}, wanted));
  engine::Sandboxes& sandboxes = request.parts.sandboxes;
  const auto sandbox = PD_TRY(sandboxes.create(request.task, std::move(wanted)));
  request.exchange.note().sandbox = sandbox->id();
  auto directory = directory_of(command.directory, *sandbox);
  if (directory.ok()) command.directory = std::move(*directory);
  auto started = directory.ok() ? sandboxes.start_main(request.task, *sandbox, std::move(command))
                                : Result<std::shared_ptr<Process>>(std::move(directory).error());
  if (started.ok()) return json_of(*sandbox, **started);
  (void)sandboxes.kill(request.task, sandbox->id(), "its command did not start").ok();
  return std::move(started).error();
}

// Of lines of output those that hold a byte of that number or a later one, cut where it begins.
std::string lines_from(const std::string& output, uint64_t from) {
  std::string out;
  for (const std::string& line : split(output, '\n')) {
    auto parsed = model::parse_json(line);
    if (!parsed.ok() || !parsed->is_object()) continue;
    object& event = parsed->get_object();
    const auto sequence = e2b::number_field(event, "sequence");
    const auto data = e2b::text_field(event, "data");
    if (!sequence.ok() || !*sequence || !data.ok() || !*data) continue;
    const auto bytes = base64_decode(**data);
    const auto first = static_cast<uint64_t>(**sequence);
    if (!bytes.ok() || first + bytes->size() <= from) continue;
    const size_t skipped = from > first ? from - first : 0;
    event["sequence"] = first + skipped;
    event["data"] = base64_encode(bytes->substr(skipped));
    out += model::json_text(event) + "\n";
  }
  return out;
}

// The first and the last line say what is no output.
Status answer_ended(const Request& request, const EndedRun& run, uint64_t from) {
  const object begin{{"event", "started"}, {"pid", 0}, {"terminal", false}, {"has_ended", true}};
  const object end{{"event", "ended"}, {"outcome", model::to_json(run.outcome)}};
  return request.exchange.respond(request.task,
                                  {200,
                                   {{"Content-Type", "application/x-ndjson"}},
                                   model::json_text(begin) + "\n" + lines_from(run.output, from) +
                                       model::json_text(end) + "\n"});
}

Result<uint64_t> from_of(const Request& request) {
  const std::string from = request.query("from");
  if (from.empty()) return uint64_t{0};
  if (const auto number = parse_u64(from)) return *number;
  return Error(Code::invalid_argument, "'from' is the number of a byte of the output");
}

}  // namespace

Status create_run(const Request& request) {
  auto made = create(request);
  return made.ok() ? answer(request, 201, *made) : answer_error(request, made.error());
}

Status list_runs(const Request& request) {
  boost::json::array list;
  for (const auto& sandbox : request.parts.sandboxes.list()) {
    if (!request.caller.may_see(sandbox->info().owner)) continue;
    if (auto process = sandbox->main_process()) list.emplace_back(json_of(*sandbox, *process));
  }
  auto ended = request.parts.sandboxes.ended_runs(request.task);
  if (!ended.ok()) return answer_error(request, ended.error());
  for (const EndedRun& run : *ended) {
    if (request.caller.may_see(run.owner)) list.emplace_back(json_of(run));
  }
  return answer(request, 200, object{{"runs", std::move(list)}});
}

Status show_run(const Request& request) {
  if (const auto going = going_run_of(request)) {
    return answer(request, 200, json_of(*going->sandbox, *going->process));
  }
  auto ended = ended_run_of(request);
  if (!ended.ok()) return answer_error(request, ended.error());
  if (!*ended) return answer_error(request, no_run(request.names.front()));
  return answer(request, 200, json_of(**ended));
}

Status follow_run(const Request& request) {
  auto from = from_of(request);
  if (!from.ok()) return answer_error(request, from.error());
  request.exchange.note().sandbox = request.names.front();
  if (auto going = going_run_of(request)) {
    Process::Reader reader(going->process, *from);
    // Whoever has seen its end finds its view at rest.
    const auto settle = [&] {
      request.parts.sandboxes.await_end(request.task, going->sandbox->id());
    };
    return send_lines(request, *going->process, reader, {going->sandbox->setup().limits, settle});
  }
  auto ended = ended_run_of(request);
  if (!ended.ok()) return answer_error(request, ended.error());
  if (!*ended) return answer_error(request, no_run(request.names.front()));
  return answer_ended(request, **ended, *from);
}

}  // namespace paddock::api::own
