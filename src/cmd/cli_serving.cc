#include "cmd/cli_serving.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cmd/cli_settings.h"

namespace paddock::cmd {
namespace {

void add_pairs(CLI::App& verb, const char* flag, std::vector<std::string>& into, const char* doc) {
  verb.add_option(flag, into, doc)
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

void add_serve(CLI::App& app, Invocation& chosen) {
  auto args = std::make_shared<ServeArgs>();
  CLI::App* verb = app.add_subcommand(
      "serve", "make sandboxes for clients of the E2B SDK, until it is interrupted");
  verb->add_option("--listen", args->listen,
                   "address and port; port 0: one that is free; beyond loopback only with API keys")
      ->type_name("ADDRESS:PORT");
  verb->add_flag_function(
      "--tls,!--no-tls", [args](int64_t times) { args->tls = times > 0; },
      "https, with a certificate of a local authority (`paddock tls ca`)");
  verb->add_option("--tls-cert", args->tls_cert,
                   "https with this certificate, its issuers behind it, in PEM")
      ->type_name("FILE");
  verb->add_option("--tls-key", args->tls_key, "its key")->type_name("FILE");
  verb->add_flag("--explain", args->explain, "show every setting of server.toml, serve nothing");
  verb->add_flag("--json", args->json, "with --explain: as JSON");
  verb->add_flag("--kill-on-exit", args->kill_on_exit,
                 "end every sandbox with the server, however it ends; else they go on until their "
                 "time is up, and the next server takes them over");
  add_settings(*verb, args->flags);
  verb->callback([args, &chosen] { chosen = *args; });
}

void add_tls(CLI::App& app, Invocation& chosen) {
  auto args = std::make_shared<TlsArgs>();
  CLI::App* group = app.add_subcommand("tls", "the server's TLS");
  group->require_subcommand(1);
  CLI::App* verb = group->add_subcommand(
      "ca", "where the authority's certificate is that clients of `serve --tls` are to trust");
  verb->add_flag("--pem", args->pem, "the certificate itself");
  verb->add_flag("--json", args->json, "as JSON");
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

void add_create(CLI::App& app, Invocation& chosen) {
  auto args = std::make_shared<CreateArgs>();
  CLI::App* verb = app.add_subcommand("create", "make a sandbox that lives; prints its id");
  verb->add_option("--template", args->template_name, "what it is made of")->capture_default_str();
  verb->add_option("--workspace", args->workspace, "a directory to show as a view, as `run` does")
      ->type_name("DIR")
      ->check([](const std::string& name) { return name.empty() ? "no directory is named" : ""; });
  verb->add_option("--timeout", args->timeout, "how long it lives (5m)")->type_name("TIME");
  add_pairs(*verb, "-e,--env", args->environment, "a variable of every command in it");
  add_pairs(*verb, "--metadata", args->metadata, "kept with it, for whoever lists");
  verb->add_flag("--json", args->json, "as JSON");
  verb->callback([args, &chosen] { chosen = *args; });
}

void add_exec(CLI::App& app, Invocation& chosen) {
  auto args = std::make_shared<ExecArgs>();
  CLI::App* verb = app.add_subcommand("exec", "run a command in a sandbox that lives");
  verb->footer("Usage: paddock exec [OPTIONS] SANDBOX -- COMMAND [ARGUMENT…]");
  verb->add_flag("-i,--interactive", args->interactive, "pass stdin on");
  verb->add_flag("-t,--tty", args->terminal, "give it a terminal");
  add_pairs(*verb, "-e,--env", args->environment, "a variable for it");
  verb->add_option("-w,--workdir", args->directory, "where it runs")->type_name("DIR");
  verb->add_option("--timeout", args->timeout, "end it after that time")->type_name("TIME");
  verb->add_option("--outcome", args->outcome_file, "write the outcome as JSON")->type_name("FILE");
  verb->add_option("sandbox", args->sandbox, "its id, or a prefix of it")->required();
  verb->add_option("command", args->command, "the command and its arguments");
  verb->positionals_at_end();
  verb->callback([args, &chosen] { chosen = *args; });
}

void add_attach(CLI::App& app, Invocation& chosen) {
  auto args = std::make_shared<AttachArgs>();
  CLI::App* verb = app.add_subcommand(
      "attach",
      "return to a command that `run --detach` left going; Ctrl-P Ctrl-Q leaves it again");
  verb->add_option("run", args->run, "its id, or a prefix of it; default: list them");
  verb->add_option("--from", args->from, "begin with that byte of its output (0)")->type_name("N");
  verb->add_flag("-i,--interactive", args->interactive, "pass on a stdin that is no terminal");
  verb->add_flag("--json", args->json, "list as JSON");
  verb->callback([args, &chosen] { chosen = *args; });
}

void add_cp(CLI::App& app, Invocation& chosen) {
  auto args = std::make_shared<CpArgs>();
  CLI::App* verb = app.add_subcommand("cp", "copy a file into a sandbox, or out of it");
  verb->add_option("from", args->from, "FILE or SANDBOX:PATH")->required();
  verb->add_option("to", args->to, "SANDBOX:PATH or FILE")->required();
  verb->add_flag("--json", args->json, "as JSON");
  verb->callback([args, &chosen] { chosen = *args; });
}

void add_life(CLI::App& app, Invocation& chosen) {
  using Verb = LifeArgs::Verb;
  struct Row {
    Verb verb;
    const char* name;
    const char* doc;
  };
  for (const Row& row :
       {Row{Verb::pause, "pause", "stop everything in a sandbox, and keep it"},
        Row{Verb::resume, "resume", "go on with a paused sandbox"},
        Row{Verb::restart, "restart", "end a sandbox's processes, start it anew on its files"},
        Row{Verb::snapshot, "snapshot", "keep a sandbox's files as they are now, as a template"},
        Row{Verb::fork, "fork", "make sandboxes with the files of one"}}) {
    auto args = std::make_shared<LifeArgs>();
    args->verb = row.verb;
    CLI::App* verb = app.add_subcommand(row.name, row.doc);
    verb->add_option("sandbox", args->sandbox, "id, or a prefix of it")->required();
    if (row.verb == Verb::pause) {
      verb->add_flag("--files-only", args->files_only, "let its processes go");
    } else if (row.verb == Verb::snapshot) {
      verb->add_option("--name", args->name, "of the template");
    } else {
      verb->add_option("--timeout", args->timeout, "how long it lives from then on")
          ->type_name("TIME");
    }
    if (row.verb == Verb::fork) {
      verb->add_option("--count", args->count, "how many")->check(CLI::Range(1, 100));
    }
    verb->add_flag("--json", args->json, "as JSON");
    verb->callback([args, &chosen] { chosen = *args; });
  }
}

void add_templates(CLI::App& app, Invocation& chosen) {
  CLI::App* group = app.add_subcommand("template", "what sandboxes are made from");
  group->require_subcommand(1);
  auto list = std::make_shared<TemplateArgs>();
  CLI::App* verb = group->add_subcommand("ls", "built-in ones, directories, built ones, snapshots");
  verb->add_flag("--json", list->json, "as JSON");
  verb->callback([list, &chosen] { chosen = *list; });
  auto add = std::make_shared<TemplateArgs>();
  add->verb = TemplateArgs::Verb::add;
  add->templates.resize(1);
  verb = group->add_subcommand("add", "a root directory of this machine, never written to");
  verb->add_option("name", add->templates.front(), "what sandboxes name it by")->required();
  verb->add_option("directory", add->directory, "an unpacked root file system")
      ->required()
      ->type_name("DIR");
  verb->add_flag("--json", add->json, "as JSON");
  verb->callback([add, &chosen] { chosen = *add; });
  auto remove = std::make_shared<TemplateArgs>();
  remove->verb = TemplateArgs::Verb::remove;
  verb = group->add_subcommand("rm",
                               "forget directories, built ones and snapshots; sandboxes live on");
  verb->add_option("template", remove->templates, "id or name")->required();
  verb->callback([remove, &chosen] { chosen = *remove; });
}

void add_sandboxes(CLI::App& app, Invocation& chosen) {
  using Verb = SandboxArgs::Verb;
  struct Row {
    Verb verb;
    const char* name;
    const char* doc;
  };
  for (const Row& row : {Row{Verb::list, "ps", "list the sandboxes that live"},
                         Row{Verb::inspect, "inspect", "one sandbox, its decision and usage"},
                         Row{Verb::kill, "kill", "end sandboxes and all in them"},
                         Row{Verb::kill, "rm", "the same as kill"},
                         Row{Verb::events, "logs", "what became of a sandbox"},
                         Row{Verb::usage, "usage", "what each API key used, by day"}}) {
    auto args = std::make_shared<SandboxArgs>();
    args->verb = row.verb;
    CLI::App* verb = app.add_subcommand(row.name, row.doc);
    if (row.verb == Verb::usage) {
      verb->add_option("--since", args->since, "from that day on")->type_name("YYYY-MM-DD");
    } else if (row.verb != Verb::list) {
      auto* names = verb->add_option("sandbox", args->sandboxes, "id, or a prefix of it");
      names->required();
      if (row.verb != Verb::kill) names->expected(1);
    }
    verb->add_flag("--json", args->json, "as JSON");
    verb->callback([args, &chosen] { chosen = *args; });
  }
}

}  // namespace paddock::cmd
