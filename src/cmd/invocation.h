// What the command line said, as values: one struct per verb. cli.cc fills them, one function per
// verb takes them.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "engine/change_request.h"
#include "policy/tier.h"

namespace paddock::cmd {

struct RunArgs {
  std::string workspace;
  std::string continue_view;  // id prefix
  std::string outcome_file;
  bool quiet = false;
  bool learn = false;  // print the policy that would have allowed what was asked
  bool gpu = false;
  bool detach = false;                   // leave it going, in the daemon
  bool interactive = false;              // with `detach`: its input stays open
  bool terminal = false;                 // with `detach`: it has one
  std::vector<policy::FlagValue> flags;  // settings, as given
  std::vector<std::string> command;
};

struct AttachArgs {
  std::string run;           // id prefix; empty: list them
  uint64_t from = 0;         // number of the first byte of output
  bool interactive = false;  // pass stdin on, which is no terminal
  bool json = false;
};

struct LsArgs {
  bool json = false;
  bool all = false;  // applied and discarded ones too
};

struct ShowArgs {
  std::string view;
  bool network = false;  // what its commands asked of the gate
  bool json = false;
};

struct DiffArgs {
  std::string view;
  enum class Form { summary, stat, name_only, patch, json } form = Form::patch;
  std::vector<std::string> paths;
};

struct ApplyArgs {
  std::string view;
  bool dry_run = false;
  bool allow_host_exec = false;
  bool strict = false;
  bool json = false;
  std::string branch;
  std::vector<std::string> paths;
};

struct DiscardArgs {
  std::string view;
};

struct RollbackArgs {
  std::string view;
  uint32_t steps = 1;
};

struct GcArgs {
  bool json = false;
};

struct InitArgs {
  std::string profile;
  bool force = false;
};

struct ExplainArgs {
  std::string workspace;
  std::vector<policy::FlagValue> flags;
  bool json = false;
};

struct DoctorArgs {
  bool json = false;
};

struct SecretArgs {
  enum class Verb { add, list, remove } verb = Verb::list;
  std::string name;
  bool json = false;
};

struct PushesArgs {
  enum class Verb { list, show, release, drop } verb = Verb::list;
  std::string id;
  bool patch = false;
  bool json = false;
};

struct RulesArgs {
  engine::ChangeVerb verb = engine::ChangeVerb::deny;
  std::string sandbox;  // or its view; an id's beginning
  std::string host;     // "HOST", "HOST:PORT"
};

struct ServeArgs {
  std::string listen;       // empty: as server.toml says
  std::optional<bool> tls;  // likewise
  std::string tls_cert;
  std::string tls_key;
  bool kill_on_exit = false;
  bool explain = false;  // show the settings instead
  bool json = false;
  std::vector<policy::FlagValue> flags;  // settings of policy, as given
};

struct TlsArgs {
  bool pem = false;  // the certificate itself, not where it is
  bool json = false;
};

struct AuditArgs {
  enum class Verb { verify, show } verb = Verb::verify;
  std::string noted;  // verify: SEQ:HASH, a point of the chain that was written down
  std::string since;  // show: a time, or how long ago
  bool json = false;
};

struct KeyArgs {
  enum class Verb { create, list, revoke } verb = Verb::list;
  std::string name;  // the label of a new key; id, prefix or label of one to revoke
  bool metrics = false;
  bool json = false;
};

struct CreateArgs {
  std::string template_name = "base";
  std::string workspace;  // empty: none
  std::string timeout;
  std::vector<std::string> environment;  // NAME=VALUE
  std::vector<std::string> metadata;     // NAME=VALUE
  bool json = false;
};

struct ExecArgs {
  std::string sandbox;
  bool interactive = false;
  bool terminal = false;
  std::vector<std::string> environment;  // NAME=VALUE
  std::string directory;
  std::string timeout;
  std::string outcome_file;
  std::vector<std::string> command;
};

struct CpArgs {
  std::string from;
  std::string to;
  bool json = false;
};

// Verbs that ask the daemon one thing.
struct SandboxArgs {
  enum class Verb { list, inspect, kill, events, usage } verb = Verb::list;
  std::vector<std::string> sandboxes;
  std::string since;  // usage: a day
  bool json = false;
};

// Verbs that stop one sandbox, or go on from what it is.
struct LifeArgs {
  enum class Verb { pause, resume, restart, roll_back, snapshot, fork } verb = Verb::pause;
  std::string sandbox;
  bool files_only = false;  // pause: processes are not kept
  std::string timeout;      // resume, restart, fork: how long it lives
  std::string snapshot;     // roll_back: to this one
  std::string name;         // snapshot: of the new one
  uint32_t count = 1;       // fork
  bool json = false;
};

struct TemplateArgs {
  enum class Verb { list, add, remove } verb = Verb::list;
  std::vector<std::string> templates;  // remove; add: the name
  std::string directory;               // add
  bool json = false;
};

using Invocation =
    std::variant<RunArgs, AttachArgs, LsArgs, ShowArgs, DiffArgs, ApplyArgs, DiscardArgs,
                 RollbackArgs, GcArgs, InitArgs, ExplainArgs, DoctorArgs, SecretArgs, PushesArgs,
                 RulesArgs, ServeArgs, TlsArgs, KeyArgs, AuditArgs, CreateArgs, ExecArgs, CpArgs,
                 SandboxArgs, LifeArgs, TemplateArgs>;

}  // namespace paddock::cmd
