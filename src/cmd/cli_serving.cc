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
      ->type_name("ADDRESS:PORT");
  verb->add_flag("--explain", args->explain, "show every setting of server.toml, serve nothing");
  verb->add_flag("--json", args->json, "with --explain: as JSON");
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

void add_audit(CLI::App& app, Invocation& chosen) {
  CLI::App* group = app.add_subcommand("audit", "the server's audit log");
  group->require_subcommand(1);
  auto verify = std::make_shared<AuditArgs>();
  CLI::App* verb = group->add_subcommand("verify", "check that no record was changed or removed");
  verb->add_option("--noted", verify->noted, "a record that must be in it, as `verify` printed it")
      ->type_name("SEQ:HASH");
  verb->add_flag("--json", verify->json, "as JSON");
  verb->callback([verify, &chosen] { chosen = *verify; });
  auto show = std::make_shared<AuditArgs>();
  show->verb = AuditArgs::Verb::show;
  verb = group->add_subcommand("show", "its records, oldest first");
  verb->add_option("--since", show->since, "from then on: 90s, 15m, 2h, 7d ago, or a time in UTC")
      ->type_name("TIME");
  verb->add_flag("--json", show->json, "the lines as they are");
  verb->callback([show, &chosen] { chosen = *show; });
}

}  // namespace paddock::cmd
