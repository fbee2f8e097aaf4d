// The part of the command line that is about the daemon. Units with CLI11: cli*.cc alone.
#pragma once

#include "cmd/invocation.h"

namespace CLI {
class App;
}

namespace paddock::cmd {

// Each declares its verbs and stores their arguments in `chosen` when they were given.
void add_serve(CLI::App& app, Invocation& chosen);
void add_tls(CLI::App& app, Invocation& chosen);
void add_key(CLI::App& app, Invocation& chosen);
void add_audit(CLI::App& app, Invocation& chosen);
void add_create(CLI::App& app, Invocation& chosen);
void add_exec(CLI::App& app, Invocation& chosen);
void add_attach(CLI::App& app, Invocation& chosen);
void add_cp(CLI::App& app, Invocation& chosen);
void add_life(CLI::App& app, Invocation& chosen);
void add_templates(CLI::App& app, Invocation& chosen);
void add_sandboxes(CLI::App& app, Invocation& chosen);  // ps inspect kill logs usage

}  // namespace paddock::cmd
