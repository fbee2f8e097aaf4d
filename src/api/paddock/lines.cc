#include "api/paddock/lines.h"

#include <boost/json.hpp>
#include <chrono>
#include <utility>

#include "engine/ended_outcome.h"
#include "engine/live/run_table.h"
#include "model/json.h"

namespace paddock::api::own {
namespace {

using boost::json::object;
using engine::Process;

// A line comes at least so often, so that a connection which is dead is noticed.
constexpr std::chrono::milliseconds kAlive{30'000};

// What a command's lines are sent by, until it ends or its client leaves.
class Lines {
 public:
  Lines(const Request& request, Process& process, Process::Reader& reader,
        const LinesOptions& options)
      : request_(request), process_(process), reader_(reader), options_(options) {
    request.exchange.on_client_gone([this] {
      client_gone_ = true;
      reader_.wake();
    });
  }
  ~Lines() { request_.exchange.on_client_gone(nullptr); }

  // unavailable: the client left.
  Status run() {
    PD_TRY(request_.exchange.begin(
        request_.task, {200, {{"Content-Type", "application/x-ndjson"}}, ""}, std::nullopt));
    PD_TRY(send({{"event", "started"},
                 {"pid", process_.pid()},
                 {"terminal", process_.request().terminal.has_value()}}));
    while (!client_gone_) {
      auto output = reader_.next(request_.task, kAlive);
      if (client_gone_) break;
      if (!output.ok()) return lost(output.error());
      if (!*output) {
        PD_TRY(send({{"event", "alive"}}));
      } else if (const auto* data = std::get_if<engine::OutputData>(&**output)) {
        PD_TRY(send_output(*data));
      } else {
        return finish(std::get<engine::OutputEnd>(**output).ended);
      }
    }
    return Error(Code::unavailable, "the client left");
  }

 private:
  Status send(const object& line) {
    return request_.exchange.write(request_.task, model::json_text(line) + "\n");
  }

  Status send_output(const engine::OutputData& data) {
    if (data.kind == engine::OutputKind::standard_error) {
      stderr_bytes_ += data.bytes.size();
    } else {
      stdout_bytes_ += data.bytes.size();
    }
    return request_.exchange.write(request_.task, engine::output_line(data));
  }

  Status finish(const wire::Ended& ended) {
    if (options_.before_end) options_.before_end();
    const auto& argv = process_.request().argv;  // of one taken over it may not be known
    model::Outcome outcome =
        engine::outcome_of(ended, argv.empty() ? std::string("the command") : argv.front(),
                           options_.limits, process_.request().timeout_ms);
    outcome.usage.stdout_bytes = stdout_bytes_;
    outcome.usage.stderr_bytes = stderr_bytes_;
    PD_TRY(send({{"event", "ended"}, {"outcome", model::to_json(outcome)}}));
    return request_.exchange.finish(request_.task);
  }

  // The sandbox went away under it.
  Status lost(const Error& error) {
    request_.exchange.note_failure(to_string(error.code()));
    PD_TRY(send({{"event", "lost"},
                 {"error", {{"code", to_string(error.code())}, {"message", error.describe()}}}}));
    return request_.exchange.finish(request_.task);
  }

  const Request& request_;
  Process& process_;
  Process::Reader& reader_;
  const LinesOptions& options_;
  uint64_t stdout_bytes_ = 0;
  uint64_t stderr_bytes_ = 0;
  bool client_gone_ = false;
};

}  // namespace

Status send_lines(const Request& request, Process& process, Process::Reader& reader,
                  const LinesOptions& options) {
  return Lines(request, process, reader, options).run();
}

}  // namespace paddock::api::own
