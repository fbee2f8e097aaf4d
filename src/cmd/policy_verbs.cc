// init and policy explain: the settings, for people.
#include <fcntl.h>
#include <fmt/core.h>

#include <boost/json.hpp>
#include <vector>

#include "base/strings.h"
#include "cmd/console.h"
#include "cmd/verbs.h"
#include "isolation/levels.h"
#include "model/json.h"
#include "policy/explain.h"
#include "policy/level_choice.h"
#include "policy/project_file.h"
#include "sys/files.h"

namespace paddock::cmd {
namespace {

// How this host would hold the settings: the backend's word, without starting anything.
std::vector<model::Control> decided_controls(const model::Settings& settings) {
  auto choice = policy::resolve_level(settings);
  if (!choice.ok()) {
    return {{"level", model::ControlState::refused, choice.error().describe()}};
  }
  auto backend = isolation::make_backend(choice->level);
  if (!backend.ok()) return {{"level", model::ControlState::refused, backend.error().describe()}};
  isolation::SandboxPlan plan;
  plan.limits = settings.limits;
  std::vector<model::Control> controls = (*backend)->decide(plan);
  controls.push_back({"egress", model::ControlState::enforced,
                      "by name, through the gate; nothing else has a way out"});
  controls.push_back({"level", model::ControlState::enforced,
                      std::string(name_of(model::kLevelNames, choice->level))});
  return controls;
}

std::string state_of(const policy::Explanation& row) {
  return row.state ? std::string(name_of(model::kControlStateNames, *row.state)) : "";
}

Status explain_policy(const ExplainArgs& args, Context& context) {
  model::HostPath workspace = PD_TRY(context.workspace(args.workspace));
  policy::Compiled compiled = PD_TRY(context.settings(workspace, args.flags));
  std::vector<model::Control> controls = decided_controls(compiled.settings);
  if (args.json) {
    print(model::pretty_json(policy::explain_json(compiled, controls)));
    return {};
  }
  std::vector<std::vector<std::string>> rows{{"SETTING", "HERE", "FROM", "VALUE"}};
  for (const auto& row : policy::explain(compiled, controls)) {
    std::string value = row.bound.empty() ? row.value : row.value + "  (bound: " + row.bound + ")";
    rows.push_back({row.key, state_of(row), row.origin, value});
  }
  for (const auto& row : policy::explain_egress(compiled))
    rows.push_back({row.key, state_of(row), row.origin, row.value});
  print(table(rows));
  return {};
}

Status write_project_file(const InitArgs& args, Context& context) {
  std::string text = PD_TRY(policy::make_project_file(args.profile));
  std::string path = context.caller().directory.str() + "/paddock.toml";
  if (sys::exists(path) && !args.force) {
    return Error(Code::already_exists, printable(path) + " is there already")
        .set_remedy("--force replaces it");
  }
  PD_TRY_CTX("writing the project's policy", sys::replace_file(path, text, 0644));
  say(fmt::format("wrote {}; `paddock policy explain` shows what it does", printable(path)));
  return {};
}

}  // namespace

int init(const InitArgs& args, Context& context) {
  Status written = write_project_file(args, context);
  return written.ok() ? 0 : fail(written.error());
}

int explain(const ExplainArgs& args, Context& context) {
  Status explained = explain_policy(args, context);
  return explained.ok() ? 0 : fail(explained.error());
}

}  // namespace paddock::cmd
