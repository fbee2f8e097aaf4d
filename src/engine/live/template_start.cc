#include "engine/live/template_start.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "sys/clock.h"

namespace paddock::engine {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBetween{2000};

ProcessRequest request_of(const TemplateSettings& settings, const std::string& script) {
  ProcessRequest request = shell_request(script);
  request.environment = settings.environment;
  request.directory = settings.directory;
  return request;
}

// Nobody waits for its end. Its output is taken as long as somebody wants it, then dropped.
class Background {
 public:
  Background(LiveSandbox::Started started, const OnOutput& on_output)
      : started_(std::move(started)), on_output_(on_output) {
    if (!on_output_) started_.reader.reset();
  }
  bool has_ended() const { return started_.process->has_ended(); }

  // What came since.
  Status drain(net::Task& task) {
    while (started_.reader) {
      auto output = PD_TRY(started_.reader->next(task, milliseconds(1)));
      if (!output || std::holds_alternative<OutputEnd>(*output)) return {};
      const auto& data = std::get<OutputData>(*output);
      on_output_(data.kind, data.bytes);
    }
    return {};
  }

 private:
  LiveSandbox::Started started_;
  const OnOutput& on_output_;
};

}  // namespace

Status start_template(net::Task& task, LiveSandbox& sandbox, const TemplateSettings& settings,
                      const TemplateStart& options) {
  std::optional<Background> background;
  if (!settings.start_command.empty()) {
    background.emplace(
        PD_TRY_CTX("starting the template's command",
                   sandbox.start_hidden(task, request_of(settings, settings.start_command))),
        options.on_output);
  }
  if (settings.ready_command.empty()) return {};
  const int64_t end_us = sys::monotonic_us() + options.patience.count() * 1000;
  std::string last = "it never ended";
  while (true) {
    const int64_t left_ms = (end_us - sys::monotonic_us()) / 1000;
    if (left_ms <= 0) break;
    ProcessRequest request = request_of(settings, settings.ready_command);
    request.timeout_ms = static_cast<uint64_t>(left_ms);
    auto started = PD_TRY_CTX("asking whether the template's command is ready",
                              sandbox.start_hidden(task, std::move(request)));
    const wire::Ended ended = PD_TRY(run_to_end(task, started, options.on_output));
    if (background) PD_TRY(background->drain(task));
    if (is_success(ended)) return {};
    last = describe(ended);
    const auto rest = milliseconds((end_us - sys::monotonic_us()) / 1000);
    if (rest > milliseconds(0)) task.sleep(std::min(rest, kBetween));
  }
  return Error(Code::timed_out,
               fmt::format("the template's ready command did not succeed within {} s: {}",
                           options.patience.count() / 1000, last))
      .set_remedy("look at the build's log; a sandbox waits for it as long as that");
}

}  // namespace paddock::engine
