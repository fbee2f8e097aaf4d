// Of Sandboxes: sandboxes that live for one command, and end with it.
#include <utility>

#include "engine/ended_outcome.h"
#include "engine/live/live_record.h"
#include "engine/live/run_table.h"
#include "engine/live/sandboxes.h"
#include "sys/clock.h"
#include "sys/fault_point.h"

namespace paddock::engine {
namespace {

constexpr std::chrono::hours kRunPatience{1};
// How long the end of a sandbox is waited for, and how often it is looked for.
constexpr int64_t kEndPatienceUs = 60'000'000;
constexpr std::chrono::milliseconds kEndRound{5};

// All that is still kept of what it said.
std::string kept_output(net::Task& task, const std::shared_ptr<Process>& process) {
  std::string lines;
  Process::Reader reader(process, 0);
  while (true) {
    auto output = reader.next(task, std::chrono::milliseconds(0));
    if (!output.ok() || !*output || !std::holds_alternative<OutputData>(**output)) return lines;
    lines += output_line(std::get<OutputData>(**output));
  }
}

}  // namespace

Result<std::shared_ptr<Process>> Sandboxes::start_main(net::Task& task, LiveSandbox& sandbox,
                                                       ProcessRequest request) {
  auto started = PD_TRY(sandbox.start(task, std::move(request)));
  sys::fault_point("live.main.started");
  sandbox.note_main(started.process->number());
  if (sandbox.setup().lifetime == isolation::Lifetime::leased) {
    PD_TRY(books_.run(task, [&, id = sandbox.info().id, record = record_of(sandbox)] {
      return LiveRecords(parts_.database).put(id, record);
    }));
  }
  follow_main(sandbox, started.process);
  return started.process;
}

// Reads along, so that its end is heard; who else reads sets its pace.
void Sandboxes::follow_main(LiveSandbox& sandbox, std::shared_ptr<Process> process) {
  loop_.spawn([this, sandbox = sandbox.shared_from_this(), process](net::Task& task) {
    std::optional<wire::Ended> ended;
    {
      Process::Reader reader(process);
      while (!ended) {
        auto output = reader.next(task, kRunPatience);
        if (!output.ok()) return;  // the sandbox ended first, or is let go of
        if (*output && std::holds_alternative<OutputEnd>(**output)) {
          ended = std::get<OutputEnd>(**output).ended;
        } else if (!*output && loop_.is_ending()) {
          return;
        }
      }
    }
    const ProcessRequest& request = process->request();  // of one taken over little may be known
    const std::string command = request.argv.empty() ? "the command" : request.argv.front();
    sandbox->note_outcome(outcome_of(*ended, command, sandbox->setup().limits, request.timeout_ms));
    (void)finish(task, sandbox->id(), "its command ended").ok();
  });
}

// Before the sandbox goes: who attaches finds the one or the other.
void Sandboxes::keep_run(net::Task& task, LiveSandbox& sandbox, const std::string& reason) {
  const std::shared_ptr<Process> process = sandbox.main_process();
  if (!process) return;
  EndedRun run;
  run.sandbox = sandbox.id();
  run.owner = sandbox.info().owner;
  run.argv = process->request().argv;
  run.outcome = outcome_of_end(sandbox, reason);
  run.output = kept_output(task, process);
  run.ended_ms = sys::wall_clock_ms();
  (void)books_.run(task, [&] { return RunTable(parts_.database).put(run); }).ok();
  sys::fault_point("live.main.kept");
}

void Sandboxes::await_end(net::Task& task, const std::string& id) {
  const int64_t end_us = sys::monotonic_us() + kEndPatienceUs;
  while ((sandboxes_.contains(id) || settling_.contains(id)) && !loop_.is_ending() &&
         sys::monotonic_us() < end_us) {
    task.sleep(kEndRound);
  }
}

Result<std::optional<EndedRun>> Sandboxes::find_ended_run(net::Task& task,
                                                          const std::string& sandbox) {
  return books_.run(task, [&] { return RunTable(parts_.database).find(sandbox); });
}

Result<std::vector<EndedRun>> Sandboxes::ended_runs(net::Task& task) {
  return books_.run(task, [&] { return RunTable(parts_.database).list(); });
}

}  // namespace paddock::engine
