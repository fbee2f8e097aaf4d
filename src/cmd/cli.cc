#include "cmd/cli.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "cmd/cli_completion.h"
#include "cmd/cli_serving.h"
#include "cmd/cli_settings.h"
#include "cmd/verbs.h"
#include "policy/setting.h"

namespace paddock::cmd {
namespace {

constexpr const char* kDescription =
    "Run code that nobody has read, in isolation, over a view of this directory.";
constexpr int kWrongUse = 2;

// An empty id is a variable that was not set, never the default.
std::string check_id(const std::string& id) {
  return id.empty() ? "no view has the empty id" : "";
}

// No id is a number of so few digits.
std::string check_rollback(const std::string& word) {
  const auto steps = parse_u64(word);
  if (word.empty()) return "no snapshot has the empty name";
  return steps && (*steps == 0 || *steps > 1'000'000) ? "1 to 1000000 commands" : "";
}

void add_view(CLI::App& verb, std::string& view) {
  verb.add_option(
          "view", view,
          "id of the view, or of a sandbox over it; default: the newest of this directory that "
          "waits")
      ->check(check_id);
}

// Each add_* declares one verb and stores its arguments in `chosen` when it was given.
void add_run(CLI::App& app, Invocation& chosen) {
  auto args = std::make_shared<RunArgs>();
  CLI::App* verb = app.add_subcommand("run", "run one command in a sandbox");
  verb->footer("Usage: paddock run [OPTIONS] -- COMMAND [ARGUMENT…]");
  verb->add_option("--workspace", args->workspace,
                   "directory to show as a view (default: this one)")
      ->type_name("DIR");
  verb->add_option("--continue", args->continue_view, "go on in this view")
      ->type_name("VIEW")
      ->check(check_id);
  verb->add_option("--outcome", args->outcome_file, "write the outcome as JSON")->type_name("FILE");
  verb->add_flag("-q,--quiet", args->quiet, "say nothing on stderr beside the command");
  verb->add_flag("--learn", args->learn,
                 "let out what no rule refuses, and print the rules that would have allowed it");
  verb->add_flag("--gpu", args->gpu, "give the host's GPU");
  verb->add_flag("-d,--detach", args->detach,
                 "leave it going in the daemon, under its policy; prints the id for `attach`");
  auto* input =
      verb->add_flag("-i,--interactive", args->interactive, "with --detach: its input stays open");
  auto* terminal = verb->add_flag("-t,--tty", args->terminal,
                                  "with --detach: give it a terminal, from wherever it is started");
  for (auto* option : {input, terminal}) option->needs("--detach");
  add_settings(*verb, args->flags);
  verb->add_option("command", args->command, "the command and its arguments");
  verb->positionals_at_end();
  verb->callback([args, &chosen] { chosen = *args; });
}

void add_ls(CLI::App& app, Invocation& chosen) {
  auto args = std::make_shared<LsArgs>();
  CLI::App* verb = app.add_subcommand("ls", "list the views that wait");
  verb->add_flag("-a,--all", args->all, "applied and discarded ones too");
  verb->add_flag("--json", args->json, "as JSON");
  verb->callback([args, &chosen] { chosen = *args; });
}

void add_show(CLI::App& app, Invocation& chosen) {
  auto args = std::make_shared<ShowArgs>();
  CLI::App* verb = app.add_subcommand("show", "a view's decision, commands and outcomes");
  add_view(*verb, args->view);
  verb->add_flag("--network", args->network, "names, connections and requests, allowed and denied");
  verb->add_flag("--json", args->json, "as JSON");
  verb->callback([args, &chosen] { chosen = *args; });
}

void add_diff(CLI::App& app, Invocation& chosen) {
  struct Flags {
    bool stat = false, names = false, patch = false, json = false;
  };
  auto args = std::make_shared<DiffArgs>();
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand("diff", "what a view changed");
  verb->footer("Usage: paddock diff [OPTIONS] [VIEW] [-- PATH…]");
  auto* forms = verb->add_option_group("Forms");
  forms->add_flag("--patch,-p", flags->patch, "a patch that `git apply` takes (default)");
  forms->add_flag("--stat", flags->stat, "one line per path");
  forms->add_flag("--name-only", flags->names, "paths alone");
  forms->add_flag("--json", flags->json, "as JSON");
  forms->require_option(0, 1);
  add_view(*verb, args->view);
  verb->callback([args, flags, &chosen] {
    args->form = flags->stat    ? DiffArgs::Form::stat
                 : flags->names ? DiffArgs::Form::name_only
                 : flags->json  ? DiffArgs::Form::json
                                : DiffArgs::Form::patch;
    chosen = *args;
  });
}

void add_apply(CLI::App& app, Invocation& chosen) {
  auto args = std::make_shared<ApplyArgs>();
  CLI::App* verb = app.add_subcommand("apply", "bring a view's changes to the host");
  verb->footer("Usage: paddock apply [OPTIONS] [VIEW] [-- PATH…]");
  add_view(*verb, args->view);
  verb->add_flag("-n,--dry-run", args->dry_run, "check and tell, write nothing");
  verb->add_flag("--allow-host-exec", args->allow_host_exec,
                 "bring what would execute on this machine too (git hooks, CI files …)");
  verb->add_flag("--strict", args->strict, "exit 3 when paths were held back");
  verb->add_option("--branch", args->branch, "bring the commits made inside, as this new branch")
      ->type_name("NAME")
      ->check([](const std::string& name) { return name.empty() ? "a branch needs a name" : ""; });
  verb->add_flag("--json", args->json, "as JSON");
  verb->callback([args, &chosen] { chosen = *args; });
}

void add_discard(CLI::App& app, Invocation& chosen) {
  auto args = std::make_shared<DiscardArgs>();
  CLI::App* verb = app.add_subcommand("discard", "throw a view away");
  add_view(*verb, args->view);
  verb->callback([args, &chosen] { chosen = *args; });
}

void add_rollback(CLI::App& app, Invocation& chosen) {
  struct Words {
    std::string of;
    std::string to = "1";
  };
  auto words = std::make_shared<Words>();
  CLI::App* verb = app.add_subcommand(
      "rollback", "undo the last commands of a view; bring a live sandbox back to a snapshot");
  verb->footer("Usage: paddock rollback VIEW [COMMANDS]\n       paddock rollback SANDBOX SNAPSHOT");
  verb->add_option("id", words->of, "of the view, or of the sandbox")->required()->check(check_id);
  verb->add_option("to", words->to, "how many commands (1), or the snapshot's id or name")
      ->check(check_rollback);
  verb->callback([words, &chosen] {
    if (const auto steps = parse_u64(words->to)) {
      chosen = RollbackArgs{words->of, static_cast<uint32_t>(*steps)};
      return;
    }
    LifeArgs args;
    args.verb = LifeArgs::Verb::roll_back;
    args.sandbox = words->of;
    args.snapshot = words->to;
    chosen = args;
  });
}

void add_gc(CLI::App& app, Invocation& chosen) {
  auto args = std::make_shared<GcArgs>();
  CLI::App* verb = app.add_subcommand("gc", "remove views past the age and size that policy gives");
  verb->add_flag("--json", args->json, "as JSON");
  verb->callback([args, &chosen] { chosen = *args; });
}

void add_init(CLI::App& app, Invocation& chosen) {
  auto args = std::make_shared<InitArgs>();
  CLI::App* verb = app.add_subcommand("init", "write a commented paddock.toml for this directory");
  verb->add_option("--profile", args->profile, "edit, ci or untrusted")->type_name("NAME");
  verb->add_flag("--force", args->force, "replace an existing file");
  verb->callback([args, &chosen] { chosen = *args; });
}

void add_policy(CLI::App& app, Invocation& chosen) {
  auto args = std::make_shared<ExplainArgs>();
  CLI::App* group = app.add_subcommand("policy", "the settings in force");
  group->require_subcommand(1);
  CLI::App* verb =
      group->add_subcommand("explain", "every setting, its value and where it came from");
  verb->add_option("--workspace", args->workspace, "of this directory")->type_name("DIR");
  verb->add_flag("--json", args->json, "as JSON");
  add_settings(*verb, args->flags);
  verb->callback([args, &chosen] { chosen = *args; });
}

void add_doctor(CLI::App& app, Invocation& chosen) {
  auto args = std::make_shared<DoctorArgs>();
  CLI::App* verb = app.add_subcommand("doctor", "what this host gives, proved by doing it");
  verb->add_flag("--json", args->json, "as JSON");
  verb->callback([args, &chosen] { chosen = *args; });
}

void add_rules(CLI::App& app, Invocation& chosen) {
  struct Verb {
    engine::ChangeVerb verb;
    const char* doc;
  };
  for (const Verb& row :
       {Verb{engine::ChangeVerb::allow, "let a running sandbox reach a host from now on"},
        Verb{engine::ChangeVerb::deny, "keep a running sandbox from a host from now on"}}) {
    auto args = std::make_shared<RulesArgs>();
    args->verb = row.verb;
    CLI::App* verb =
        app.add_subcommand(std::string(name_of(engine::kChangeVerbNames, row.verb)), row.doc);
    verb->add_option("sandbox", args->sandbox, "id of the sandbox or of its view")
        ->required()
        ->check(check_id);
    verb->add_option("host", args->host, "HOST[:PORT]")->required();
    verb->callback([args, &chosen] { chosen = *args; });
  }
}

void add_secret(CLI::App& app, Invocation& chosen) {
  struct Verb {
    SecretArgs::Verb verb;
    const char* name;
    const char* doc;
  };
  CLI::App* group = app.add_subcommand("secret", "Paddock's own store of secrets");
  group->require_subcommand(1);
  for (const Verb& row : {Verb{SecretArgs::Verb::add, "add", "keep a secret, read from stdin"},
                          Verb{SecretArgs::Verb::list, "ls", "their names"},
                          Verb{SecretArgs::Verb::remove, "rm", "forget a secret"}}) {
    auto args = std::make_shared<SecretArgs>();
    args->verb = row.verb;
    CLI::App* verb = group->add_subcommand(row.name, row.doc);
    if (row.verb == SecretArgs::Verb::list) {
      verb->add_flag("--json", args->json, "as JSON");
    } else {
      verb->add_option("name", args->name, "as in from = \"store:NAME\"")->required();
    }
    verb->callback([args, &chosen] { chosen = *args; });
  }
}

void add_pushes(CLI::App& app, Invocation& chosen) {
  using Verb = PushesArgs::Verb;
  auto listing = std::make_shared<PushesArgs>();
  CLI::App* group = app.add_subcommand("pushes", "git pushes that a rule holds for review");
  group->require_subcommand(0, 1);
  group->add_flag("--json", listing->json, "as JSON");
  group->callback([listing, group, &chosen] {
    if (group->get_subcommands().empty()) chosen = *listing;
  });
  struct Row {
    Verb verb;
    const char* name;
    const char* doc;
  };
  for (const Row& row :
       {Row{Verb::show, "show", "its refs and commits"},
        Row{Verb::release, "release", "send it to its host, with the credential of the policy"},
        Row{Verb::drop, "drop", "forget it"}}) {
    auto args = std::make_shared<PushesArgs>();
    args->verb = row.verb;
    CLI::App* verb = group->add_subcommand(row.name, row.doc);
    verb->add_option("id", args->id, "of the push, or its beginning")->required();
    if (row.verb == Verb::show) {
      verb->add_flag("--patch", args->patch, "what its commits change");
      verb->add_flag("--json", args->json, "as JSON");
    }
    verb->callback([args, &chosen] { chosen = *args; });
  }
}

// What stands behind `--` is never an option of ours: a command for `run`, paths for diff and
// apply.
std::vector<std::string> split_at_dashes(std::vector<std::string>& words) {
  auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes == words.end()) return {};
  std::vector<std::string> rest(dashes + 1, words.end());
  words.erase(dashes, words.end());
  return rest;
}

void set_rest(Invocation& chosen, std::vector<std::string> rest) {
  if (auto* run = std::get_if<RunArgs>(&chosen)) {
    run->command.insert(run->command.end(), rest.begin(), rest.end());
  } else if (auto* exec = std::get_if<ExecArgs>(&chosen)) {
    exec->command.insert(exec->command.end(), rest.begin(), rest.end());
  } else if (auto* diff = std::get_if<DiffArgs>(&chosen)) {
    diff->paths = std::move(rest);
  } else if (auto* apply = std::get_if<ApplyArgs>(&chosen)) {
    apply->paths = std::move(rest);
  }
}

}  // namespace

std::variant<Invocation, Exit> parse_command_line(int argc, char** argv) {
  Invocation chosen;
  CLI::App app(kDescription, "paddock");
  app.set_version_flag("--version", "paddock " PADDOCK_VERSION);
  app.require_subcommand(1);
  for (auto* add :
       {add_run,   add_ls,        add_show,   add_diff,     add_apply,  add_discard, add_rollback,
        add_gc,    add_init,      add_policy, add_doctor,   add_secret, add_pushes,  add_rules,
        add_serve, add_tls,       add_key,    add_audit,    add_create, add_exec,    add_attach,
        add_cp,    add_sandboxes, add_life,   add_templates}) {
    add(app, chosen);
  }
  CLI::App* completion = app.add_subcommand("completion", "completion of the command line");
  completion->require_subcommand(1);
  completion->add_subcommand("bash", "a script: eval \"$(paddock completion bash)\"");
  std::vector<std::string> words(argv + 1, argv + argc);
  std::vector<std::string> rest = split_at_dashes(words);
  bool is_run = !words.empty() && (words.front() == "run" || words.front() == "exec");
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 takes them
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, err;
    int status = app.exit(error, out, err);
    if (status != 0) status = is_run ? kPaddockCouldNot : kWrongUse;
    return Exit{status, out.str(), err.str()};
  }
  if (completion->parsed()) return Exit{0, bash_completion(app), ""};
  set_rest(chosen, std::move(rest));
  return chosen;
}

}  // namespace paddock::cmd
