#include "engine/live/command_run.h"

#include <fmt/core.h>

#include <utility>

namespace paddock::engine {
namespace {

constexpr std::chrono::milliseconds kPiecePatience{60'000};  // for the next piece; then once more
constexpr const char* kLoginShell =
    "if [ -x /bin/bash ]; then exec /bin/bash -l -c \"$1\"; else exec /bin/sh -l -c \"$1\"; fi";

}  // namespace

Result<wire::Ended> run_to_end(net::Task& task, LiveSandbox::Started& started,
                               const OnOutput& on_output) {
  while (true) {
    auto output = PD_TRY(started.reader->next(task, kPiecePatience));
    if (!output) continue;
    if (auto* end = std::get_if<OutputEnd>(&*output)) return std::move(end->ended);
    const auto& data = std::get<OutputData>(*output);
    if (on_output) on_output(data.kind, data.bytes);
  }
}

ProcessRequest shell_request(std::string script) {
  ProcessRequest request;
  request.argv = {"/bin/sh", "-c", kLoginShell, "sh", std::move(script)};
  return request;
}

bool is_success(const wire::Ended& ended) {
  return ended.how() == wire::Ended::EXITED && ended.code() == 0;
}

std::string describe(const wire::Ended& ended) {
  switch (ended.how()) {
    case wire::Ended::SIGNALLED:
      return fmt::format("signal {}", ended.code());
    case wire::Ended::TIMED_OUT:
      return "its time was up";
    case wire::Ended::NOT_FOUND:
      return "there is no such program";
    case wire::Ended::NOT_EXECUTABLE:
      return "it is no program";
    default:
      return fmt::format("exit status {}", ended.code());
  }
}

}  // namespace paddock::engine
