#include "cmd/cli_serving.h"

#include <CLI/CLI.hpp>
#include <memory>

namespace paddock::cmd {

void add_serve(CLI::App& app, Invocation& chosen) {
  auto args = std::make_shared<ServeArgs>();
  CLI::App* verb = app.add_subcommand(
      "serve", "make sandboxes for clients of the E2B SDK, until it is interrupted");
  verb->add_option("--listen", args->listen,
                   "address and port; port 0: one that is free; beyond loopback only with API keys")
      ->type_name("ADDRESS:PORT")
      ->capture_default_str();
  verb->callback([args, &chosen] { chosen = *args; });
}

void add_key(CLI::App& app, Invocation& chosen) {
  struct Verb {
    KeyArgs::Verb verb;
    const char* name;
    const char* argument;
    const char* doc;
  };
  CLI::App* group = app.add_subcommand("key", "API keys of the server");
  group->require_subcommand(1);
  for (const Verb& row :
       {Verb{KeyArgs::Verb::create, "create", "label", "make a key and show its secret, once"},
        Verb{KeyArgs::Verb::list, "ls", nullptr, "every key, without secrets"},
        Verb{KeyArgs::Verb::revoke, "revoke", "key", "take no more requests with a key"}}) {
    auto args = std::make_shared<KeyArgs>();
    args->verb = row.verb;
    CLI::App* verb = group->add_subcommand(row.name, row.doc);
    if (row.argument != nullptr) {
      const char* what = row.verb == KeyArgs::Verb::create ? "whose it is" : "its id or label";
      verb->add_option(row.argument, args->name, what)->required();
    }
    if (row.verb == KeyArgs::Verb::create) {
      verb->add_flag("--metrics", args->metrics, "good for /metrics and nothing else");
    }
    verb->add_flag("--json", args->json, "as JSON");
    verb->callback([args, &chosen] { chosen = *args; });
  }
}

}  // namespace paddock::cmd
