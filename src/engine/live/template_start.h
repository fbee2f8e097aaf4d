// What a template starts in every sandbox that is made from it.
#pragma once

#include <chrono>

#include "base/result.h"
#include "engine/live/command_run.h"
#include "engine/live/template_settings.h"

namespace paddock::engine {

struct TemplateStart {
  std::chrono::milliseconds patience;  // until it is ready
  OnOutput on_output;                  // of both commands
};

// Starts the template's command, which runs as long as the sandbox does, and asks every two seconds
// whether it is ready; without a ready command nobody waits. As the sandbox's own user, where its
// commands start. timed_out: it does not get ready.
Status start_template(net::Task& task, LiveSandbox& sandbox, const TemplateSettings& settings,
                      const TemplateStart& options);

// How long a client that makes a sandbox waits for it.
inline constexpr std::chrono::milliseconds kReadyPatience{50'000};

}  // namespace paddock::engine
