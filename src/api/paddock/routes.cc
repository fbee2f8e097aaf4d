#include "api/paddock/routes.h"

#include "base/strings.h"
#include "net/http/message.h"

namespace paddock::api::own {
namespace {

constexpr Body kNone{};
constexpr Body kBytes{"application/octet-stream", ""};

constexpr Body json(std::string_view schema) {
  return {"application/json", schema};
}

const std::vector<Route>& table() {
  static const std::vector<Route> kRoutes{
      {"GET",
       "/paddock/v1/sandboxes",
       "listSandboxes",
       "Sandboxes that the caller may see",
       kNone,
       200,
       json("SandboxList"),
       {},
       list_sandboxes},
      {"POST",
       "/paddock/v1/sandboxes",
       "createSandbox",
       "Make a sandbox",
       json("CreateSandbox"),
       201,
       json("Sandbox"),
       {},
       create_sandbox},
      {"GET",
       "/paddock/v1/sandboxes/{id}",
       "getSandbox",
       "One sandbox, with its decision and usage",
       kNone,
       200,
       json("Sandbox"),
       {},
       show_sandbox},
      {"DELETE",
       "/paddock/v1/sandboxes/{id}",
       "killSandbox",
       "End a sandbox and all in it",
       kNone,
       204,
       kNone,
       {},
       kill_sandbox},
      {"POST",
       "/paddock/v1/sandboxes/{id}/timeout",
       "setTimeout",
       "Give it that long from now on",
       json("Timeout"),
       204,
       kNone,
       {},
       set_timeout},
      {"GET",
       "/paddock/v1/sandboxes/{id}/decision",
       "getDecision",
       "Which control holds for it, and how",
       kNone,
       200,
       json("Decision"),
       {},
       show_decision},
      {"GET",
       "/paddock/v1/sandboxes/{id}/denials",
       "listDenials",
       "What it tried and was refused",
       kNone,
       200,
       json("DenialList"),
       {},
       list_denials},
      {"PUT",
       "/paddock/v1/sandboxes/{id}/rules/{host}",
       "changeRule",
       "Allow or deny HOST[:PORT] from now on, within what policy lets out",
       json("ChangeRule"),
       200,
       json("ChangedRule"),
       {},
       change_rule},
      {"POST",
       "/paddock/v1/sandboxes/{id}/pause",
       "pauseSandbox",
       "Stop everything in it and keep it; memory=false keeps files alone",
       json("Pause"),
       200,
       json("Sandbox"),
       {},
       pause_sandbox},
      {"POST",
       "/paddock/v1/sandboxes/{id}/resume",
       "resumeSandbox",
       "Go on with a paused one; memory=false starts it anew on its files",
       json("Resume"),
       200,
       json("Sandbox"),
       {},
       resume_sandbox},
      {"POST",
       "/paddock/v1/sandboxes/{id}/restart",
       "restartSandbox",
       "End its processes and start it anew on its files",
       json("Restart"),
       200,
       json("Sandbox"),
       {},
       restart_sandbox},
      {"POST",
       "/paddock/v1/sandboxes/{id}/rollback",
       "rollBackSandbox",
       "End its processes and start it anew on the files of a snapshot",
       json("Rollback"),
       200,
       json("Sandbox"),
       {},
       roll_back_sandbox},
      {"POST",
       "/paddock/v1/sandboxes/{id}/snapshot",
       "snapshotSandbox",
       "Keep its files as they are now, as a template",
       json("MakeSnapshot"),
       201,
       json("Template"),
       {},
       snapshot_sandbox},
      {"POST",
       "/paddock/v1/sandboxes/{id}/fork",
       "forkSandbox",
       "Make sandboxes with its files, each made or not by itself",
       json("Fork"),
       201,
       json("ForkList"),
       {},
       fork_sandbox},
      {"GET",
       "/paddock/v1/templates",
       "listTemplates",
       "What sandboxes can be made from: built-in ones, and snapshots, newest first",
       kNone,
       200,
       json("TemplateList"),
       {},
       list_templates},
      {"DELETE",
       "/paddock/v1/templates/{template}",
       "removeTemplate",
       "Forget a snapshot, by id or name; what sandboxes use of it stays until they end",
       kNone,
       204,
       kNone,
       {},
       remove_template},
      {"POST",
       "/paddock/v1/sandboxes/{id}/exec",
       "exec",
       "Run a command; its output and outcome come as lines of JSON",
       json("Exec"),
       200,
       {"application/x-ndjson", "ExecEvent"},
       {},
       exec},
      {"GET",
       "/paddock/v1/sandboxes/{id}/processes",
       "listProcesses",
       "Commands that run in it",
       kNone,
       200,
       json("ProcessList"),
       {},
       list_processes},
      {"POST",
       "/paddock/v1/sandboxes/{id}/processes/{pid}/input",
       "sendInput",
       "Bytes for a command's input; with end=1 nothing follows",
       kBytes,
       204,
       kNone,
       {"end"},
       send_input},
      {"POST",
       "/paddock/v1/sandboxes/{id}/processes/{pid}/signal",
       "sendSignal",
       "A signal to a command's whole tree",
       json("Signal"),
       204,
       kNone,
       {},
       send_signal},
      {"POST",
       "/paddock/v1/sandboxes/{id}/processes/{pid}/resize",
       "resize",
       "The size of a command's terminal",
       json("TerminalSize"),
       204,
       kNone,
       {},
       resize},
      {"GET",
       "/paddock/v1/sandboxes/{id}/files",
       "readFile",
       "The bytes of a file inside",
       kNone,
       200,
       kBytes,
       {"path"},
       read_file},
      {"PUT",
       "/paddock/v1/sandboxes/{id}/files",
       "writeFile",
       "A file inside, whole or not at all",
       kBytes,
       204,
       kNone,
       {"path"},
       write_file},
      {"GET",
       "/paddock/v1/events",
       "listEvents",
       "What became of sandboxes, oldest first; the newest 4096 are kept",
       kNone,
       200,
       json("EventList"),
       {"since", "sandbox"},
       list_events},
      {"GET",
       "/paddock/v1/usage",
       "getUsage",
       "What keys used, by day",
       kNone,
       200,
       json("UsageList"),
       {"since"},
       show_usage},
      {"GET",
       "/paddock/v1/views",
       "listViews",
       "Views of workspaces: not built here",
       kNone,
       501,
       json("Error"),
       {},
       refuse_unbuilt},
      {"GET",
       "/openapi.json",
       "getDocument",
       "This document",
       kNone,
       200,
       {"application/json", ""},
       {},
       show_document},
  };
  return kRoutes;
}

bool is_name(std::string_view segment) {
  return segment.starts_with('{');
}

// What stands for the names of `pattern`; nullopt: it is another path.
std::optional<std::vector<std::string>> match(std::string_view pattern,
                                              const std::vector<std::string>& path) {
  const std::vector<std::string> wanted = split(pattern, '/');
  if (wanted.size() != path.size()) return std::nullopt;
  std::vector<std::string> names;
  for (size_t i = 0; i < path.size(); ++i) {
    if (is_name(wanted[i])) {
      names.push_back(net::http::percent_decode(path[i], net::http::Decode::path));
      if (names.back().empty()) return std::nullopt;
    } else if (wanted[i] != path[i]) {
      return std::nullopt;
    }
  }
  return names;
}

}  // namespace

std::span<const Route> routes() {
  return table();
}

std::optional<Match> find_route(std::string_view method, std::string_view path) {
  const std::vector<std::string> segments = split(path, '/');
  std::optional<Match> other;
  for (const Route& route : table()) {
    auto names = match(route.path, segments);
    if (!names) continue;
    if (route.method == method) return Match{&route, std::move(*names)};
    other = Match{nullptr, {}};
  }
  return other;
}

}  // namespace paddock::api::own
