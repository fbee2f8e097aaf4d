// ls, show, discard, rollback, gc: views as things.
#include <fmt/core.h>

#include <boost/json.hpp>
#include <utility>

#include "base/strings.h"
#include "cmd/console.h"
#include "cmd/report.h"
#include "cmd/verbs.h"
#include "cmd/view_choice.h"
#include "model/json.h"
#include "view/public_json.h"

namespace paddock::cmd {
namespace {

using view::Step;
using view::ViewInfo;
using view::ViewState;

bool is_open(const ViewInfo& info) {
  return info.state != ViewState::applied && info.state != ViewState::discarded;
}

std::string ending_of(const Step& step) {
  if (step.outcome_json.empty()) return "interrupted";
  auto outcome = model::decode_outcome(step.outcome_json);
  return outcome.ok() ? describe_ending(*outcome) : "unreadable record";
}

void print_step(const Step& step) {
  print(fmt::format("\n{} {}{}\n", styled(1, Style::bold, fmt::format("command {}", step.number)),
                    shell_words(step.argv), step.undone ? "  (undone)" : ""));
  print(fmt::format("  {}, {}\n", ago(step.started_ms), ending_of(step)));
  if (step.outcome_json.empty()) return;
  auto outcome = model::decode_outcome(step.outcome_json);
  if (outcome.ok()) print(describe_denials(*outcome, "  "));
}

void print_decision(const Step& step) {
  auto decision = model::decode_decision(step.decision_json);
  if (!decision.ok()) return;
  print(fmt::format("\n{}\n{}", styled(1, Style::bold, "decision"), describe_decision(*decision)));
}

void print_network(const Step& step) {
  auto record = model::decode_network_record(step.network_json);
  print(fmt::format("\n{} {}\n", styled(1, Style::bold, fmt::format("command {}", step.number)),
                    shell_words(step.argv)));
  if (!record.ok()) return print("  unreadable record\n");
  if (record->empty()) return print("  nothing\n");
  print(describe_network(*record, "  "));
}

Status show_view(const ShowArgs& args, Context& context) {
  view::ViewStore* views = PD_TRY(context.views());
  ViewInfo info = PD_TRY(choose_view(*views, context, args.view));
  std::vector<Step> steps = PD_TRY(views->steps(info.id));
  if (args.json) {
    print(model::pretty_json(view::to_json(info, steps)));
    return {};
  }
  print(fmt::format(
      "{} {}\n  workspace {}\n  made {}, {}, holds {}\n", styled(1, Style::bold, info.id.str()),
      name_of(view::kViewStateNames, info.state), printable(info.workspace.str()),
      ago(info.created_ms), plural(info.steps, "command"), approximate_bytes(info.bytes)));
  if (args.network) {
    for (const Step& step : steps) print_network(step);
    return {};
  }
  for (const Step& step : steps) print_step(step);
  if (!steps.empty()) print_decision(steps.back());
  return {};
}

Status list_views(const LsArgs& args, Context& context) {
  view::ViewStore* views = PD_TRY(context.views());
  std::vector<ViewInfo> all = PD_TRY(views->list());
  boost::json::array list;
  std::vector<std::vector<std::string>> rows{
      {"VIEW", "STATE", "MADE", "COMMANDS", "SIZE", "WORKSPACE"}};
  for (const ViewInfo& info : all) {
    if (!args.all && !is_open(info)) continue;
    list.push_back(view::to_json(info));
    rows.push_back({short_id(info.id), std::string(name_of(view::kViewStateNames, info.state)),
                    ago(info.created_ms), std::to_string(info.steps), approximate_bytes(info.bytes),
                    info.workspace.str()});
  }
  if (args.json) {
    print(model::pretty_json(list));
  } else if (rows.size() > 1) {
    print(table(rows));
  } else {
    say("no views: `paddock run -- COMMAND` makes one when the command changes something");
  }
  return {};
}

Status discard_view(const DiscardArgs& args, Context& context) {
  view::ViewStore* views = PD_TRY(context.views());
  ViewInfo info = PD_TRY(choose_view(*views, context, args.view));
  const Status discarded = views->discard(info.id);
  if (!discarded.ok()) return held_error(context, info, discarded.error());
  say(fmt::format("discarded view {}", short_id(info.id)));
  return {};
}

Status roll_back(const RollbackArgs& args, Context& context) {
  view::ViewStore* views = PD_TRY(context.views());
  ViewInfo info = PD_TRY(choose_view(*views, context, args.view));
  const Status undone = views->rollback(info.id, args.steps);
  if (!undone.ok()) return held_error(context, info, undone.error());
  say(fmt::format("undid the last {} of view {}",
                  args.steps == 1 ? std::string("command") : plural(args.steps, "command"),
                  short_id(info.id)));
  return {};
}

Status collect(const GcArgs& args, Context& context) {
  view::ViewStore* views = PD_TRY(context.views());
  model::Settings settings = PD_TRY(context.settings(model::HostPath(), {})).settings;
  std::vector<ViewInfo> removed = PD_TRY(views->collect_garbage(settings.views));
  if (args.json) {
    boost::json::array list;
    for (const ViewInfo& info : removed) list.push_back(view::to_json(info));
    print(model::pretty_json(list));
    return {};
  }
  for (const ViewInfo& info : removed) {
    say(fmt::format("removed view {} ({}) of {}", short_id(info.id), approximate_bytes(info.bytes),
                    printable(info.workspace.str())));
  }
  if (removed.empty()) say("nothing to remove");
  return {};
}

int done(const Status& status) {
  return status.ok() ? 0 : fail(status.error());
}

}  // namespace

int ls(const LsArgs& args, Context& context) {
  return done(list_views(args, context));
}
int show(const ShowArgs& args, Context& context) {
  return done(show_view(args, context));
}
int discard(const DiscardArgs& args, Context& context) {
  return done(discard_view(args, context));
}
int rollback(const RollbackArgs& args, Context& context) {
  return done(roll_back(args, context));
}
int gc(const GcArgs& args, Context& context) {
  return done(collect(args, context));
}

}  // namespace paddock::cmd
