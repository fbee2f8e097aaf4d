// pause, resume, restart, rollback, snapshot, fork of live sandboxes; template ls, add and rm.
#include <boost/json.hpp>
#include <string>
#include <vector>

#include "base/strings.h"
#include "cmd/client/daemon_client.h"
#include "cmd/client/sandbox_choice.h"
#include "cmd/console.h"
#include "cmd/verbs.h"
#include "model/json.h"
#include "sys/files.h"

namespace paddock::cmd {
namespace {

using boost::json::object;
using Verb = LifeArgs::Verb;

struct LifeCall {
  std::string action;  // behind the id
  object body;
};

Result<LifeCall> life_call(const LifeArgs& args) {
  LifeCall call;
  if (!args.timeout.empty()) call.body["timeout_s"] = PD_TRY(parse_seconds(args.timeout));
  switch (args.verb) {
    case Verb::pause:
      call.action = "pause";
      call.body["memory"] = !args.files_only;
      break;
    case Verb::resume:
      call.action = "resume";
      break;
    case Verb::restart:
      call.action = "restart";
      break;
    case Verb::roll_back:
      call.action = "rollback";
      call.body["snapshot"] = args.snapshot;
      break;
    case Verb::snapshot:
      call.action = "snapshot";
      call.body["name"] = args.name;
      break;
    case Verb::fork:
      call.action = "fork";
      call.body["count"] = args.count;
      break;
  }
  return call;
}

// Those that were made are printed, whatever became of the others.
Status print_forks(const object& answer) {
  std::vector<std::string> failed;
  for (const object& fork : list_field(answer, "forks")) {
    const auto* made = fork.if_contains("sandbox");
    if (made != nullptr && made->is_object()) {
      print(text_field(made->get_object(), "id") + "\n");
      continue;
    }
    const auto* error = fork.if_contains("error");
    const bool told = error != nullptr && error->is_object();
    failed.push_back(told ? text_field(error->get_object(), "message") : "");
  }
  if (failed.empty()) return {};
  return Error(Code::unavailable, plural(failed.size(), "fork") + " failed: " + failed.front());
}

Status change_one(const LifeArgs& args, Context& context) {
  const model::HostPath home = PD_TRY(context.home());
  const std::string id = PD_TRY(find_sandbox(home, args.sandbox));
  const LifeCall call = PD_TRY(life_call(args));
  const std::string target = "/paddock/v1/sandboxes/" + id + "/" + call.action;
  const object answer = PD_TRY(call_daemon(home, "POST", target, call.body));
  if (args.json) {
    print(model::pretty_json(answer));
    return {};
  }
  if (args.verb == Verb::fork) return print_forks(answer);
  print(text_field(answer, "id") + "\n");  // of the sandbox, or of the snapshot
  return {};
}

// ---- templates

constexpr const char* kTemplates = "/paddock/v1/templates";

Status list_templates(const TemplateArgs& args, const model::HostPath& home) {
  const object answer = PD_TRY(call_daemon(home, "GET", kTemplates));
  if (args.json) {
    print(model::pretty_json(answer));
    return {};
  }
  std::vector<std::vector<std::string>> rows{
      {"TEMPLATE", "KIND", "NAME", "FILES", "CREATED", "OVER", "SANDBOX", "KEY", "DIRECTORY"}};
  for (const object& row : list_field(answer, "templates")) {
    rows.push_back({text_field(row, "id"), text_field(row, "kind"), text_field(row, "name"),
                    text_field(row, "guarantee"), text_field(row, "created"),
                    text_field(row, "template"), text_field(row, "sandbox"), text_field(row, "key"),
                    text_field(row, "directory")});
  }
  print(table(rows));
  return {};
}

Status add_template(const TemplateArgs& args, const model::HostPath& home) {
  // As the caller spells it from where he stands; the daemon stands elsewhere.
  const std::string directory = PD_TRY(sys::real_path(args.directory));
  const object answer = PD_TRY(call_daemon(
      home, "POST", kTemplates, {{"name", args.templates.front()}, {"directory", directory}}));
  print(args.json ? model::pretty_json(answer) : text_field(answer, "name") + "\n");
  return {};
}

Status remove_templates(const TemplateArgs& args, const model::HostPath& home) {
  for (const std::string& name : args.templates) {
    (void)PD_TRY(call_daemon(home, "DELETE", std::string(kTemplates) + "/" + url_encode(name)));
    print(printable(name) + "\n");
  }
  return {};
}

Status act(const TemplateArgs& args, Context& context) {
  const model::HostPath home = PD_TRY(context.home());
  if (args.verb == TemplateArgs::Verb::list) return list_templates(args, home);
  if (args.verb == TemplateArgs::Verb::add) return add_template(args, home);
  return remove_templates(args, home);
}

}  // namespace

int change_life(const LifeArgs& args, Context& context) {
  const Status done = change_one(args, context);
  return done.ok() ? 0 : fail(done.error());
}

int templates(const TemplateArgs& args, Context& context) {
  const Status done = act(args, context);
  return done.ok() ? 0 : fail(done.error());
}

}  // namespace paddock::cmd
