// diff and apply: what a view changed.
#include <fmt/core.h>

#include <algorithm>
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

using model::Change;
using model::ChangeKind;
using model::ChangeSet;
using view::AppliedPath;
using view::ApplyReport;
using view::ApplyResult;

bool selected(const std::string& path, const std::vector<std::string>& paths) {
  return paths.empty() || std::any_of(paths.begin(), paths.end(), [&](const std::string& wanted) {
           return path == wanted || path.compare(0, wanted.size() + 1, wanted + "/") == 0;
         });
}

char letter(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::added:
      return 'A';
    case ChangeKind::modified:
      return 'M';
    case ChangeKind::deleted:
      return 'D';
    case ChangeKind::renamed:
      return 'R';
  }
  return '?';
}

std::string stat_line(const Change& change) {
  std::string name = printable(change.path);
  if (change.from) name = printable(*change.from) + " => " + name;
  std::string lines =
      change.binary ? "binary" : fmt::format("+{} -{}", change.added_lines, change.deleted_lines);
  if (change.before.type != model::FileType::absent &&
      change.after.type != model::FileType::absent && change.before.mode != change.after.mode) {
    lines += fmt::format(", mode {:o} → {:o}", change.before.mode, change.after.mode);
  }
  std::string held =
      change.held_reason.empty() ? "" : "  held back: " + printable(change.held_reason);
  return fmt::format("{} {}  {}{}\n", letter(change.kind), name, styled(1, Style::dim, lines),
                     styled(1, Style::yellow, held));
}

// What was done to git itself inside is said path by path where git would run it.
std::string git_text(const std::vector<std::string>& git_paths) {
  std::string text;
  for (const std::string& path : git_paths) {
    std::string reason = view::git_exec_reason(path);
    if (reason.empty()) continue;
    text += fmt::format("{} {}  {}: nothing of .git is applied\n",
                        styled(1, Style::yellow, "kept out "), printable(path), reason);
  }
  return text;
}

std::string stat_text(const ChangeSet& changes) {
  std::string text;
  for (const Change& change : changes.changes) text += stat_line(change);
  text += git_text(changes.git_paths);
  if (!changes.git_paths.empty()) {
    text += fmt::format("{} of .git changed: `paddock apply --branch NAME` brings commits\n",
                        plural(changes.git_paths.size(), "path"));
  }
  for (const std::string& path : changes.skipped) {
    text += fmt::format("! {}  cannot be carried\n", printable(path));
  }
  return text;
}

Status show_diff(const DiffArgs& args, Context& context) {
  view::ViewStore* views = PD_TRY(context.views());
  view::ViewInfo info = PD_TRY(choose_view(*views, context, args.view));
  std::vector<std::string> paths = PD_TRY(relative_paths(args.paths, info.workspace, context));
  if (args.form == DiffArgs::Form::patch) {
    print_untrusted(PD_TRY(views->patch(info.id, paths)));
    return {};
  }
  ChangeSet changes = PD_TRY(views->changes(info.id));
  std::erase_if(changes.changes,
                [&](const Change& change) { return !selected(change.path, paths); });
  if (args.form == DiffArgs::Form::json) {
    print(model::pretty_json(model::to_json(changes)));
  } else if (args.form == DiffArgs::Form::name_only) {
    for (const Change& change : changes.changes) print(printable(change.path) + "\n");
  } else {
    print(stat_text(changes));
  }
  return {};
}

void print_report(const ApplyReport& report, const std::vector<std::string>& git_paths,
                  bool dry_run) {
  size_t written = 0;
  for (const AppliedPath& path : report.paths) {
    Style style = path.result == ApplyResult::conflict ? Style::red
                  : path.result == ApplyResult::held   ? Style::yellow
                                                       : Style::green;
    written += path.result == ApplyResult::applied || path.result == ApplyResult::merged ? 1 : 0;
    std::string reason = path.reason.empty() ? "" : "  " + printable(path.reason);
    print(fmt::format(
        "{} {}{}\n",
        styled(1, style, fmt::format("{:9}", name_of(view::kApplyResultNames, path.result))),
        printable(path.path), reason));
  }
  print(git_text(git_paths));
  auto held = std::count_if(report.paths.begin(), report.paths.end(), [](const AppliedPath& path) {
    return path.result == ApplyResult::held;
  });
  if (report.has_conflict) {
    say("conflict: nothing was written; the view is kept");
  } else {
    say(fmt::format("{} {}", dry_run ? "would apply" : "applied", plural(written, "path")));
  }
  if (held > 0 && !report.has_conflict) {
    say(fmt::format(
        "{} held back, kept in the view: `paddock apply --allow-host-exec` brings what would "
        "execute on this machine",
        plural(static_cast<uint64_t>(held), "path")));
  }
  if (!git_paths.empty()) {
    say(fmt::format(
        "{} of .git changed and stay in the view: `paddock apply --branch NAME` brings commits",
        plural(git_paths.size(), "path")));
  }
}

Result<int> apply_branch(const ApplyArgs& args, Context& context, view::ViewStore& views,
                         const view::ViewInfo& info) {
  auto commit = views.apply_branch(info.id, args.branch);
  if (!commit.ok()) return held_error(context, info, std::move(commit).error());
  say(fmt::format("branch {} is {}", args.branch, *commit));
  return 0;
}

Result<int> apply_view(const ApplyArgs& args, Context& context) {
  view::ViewStore* views = PD_TRY(context.views());
  view::ViewInfo info = PD_TRY(choose_view(*views, context, args.view));
  if (!args.branch.empty()) return apply_branch(args, context, *views, info);
  std::vector<std::string> git_paths = PD_TRY(views->changes(info.id)).git_paths;
  view::ApplyOptions options;
  options.writes = args.dry_run ? view::Writes::dry_run : view::Writes::perform;
  options.host_exec = args.allow_host_exec ? view::HostExec::allow : view::HostExec::hold_back;
  options.paths = PD_TRY(relative_paths(args.paths, info.workspace, context));
  auto applied = views->apply(info.id, options);
  if (!applied.ok()) return held_error(context, info, std::move(applied).error());
  const ApplyReport& report = *applied;
  if (args.json) {
    print(model::pretty_json(view::to_json(report, git_paths)));
  } else {
    print_report(report, git_paths, args.dry_run);
  }
  if (report.has_conflict) return 1;
  bool held = std::any_of(report.paths.begin(), report.paths.end(),
                          [](const AppliedPath& path) { return path.result == ApplyResult::held; });
  return held && args.strict ? 3 : 0;
}

}  // namespace

int diff(const DiffArgs& args, Context& context) {
  Status shown = show_diff(args, context);
  return shown.ok() ? 0 : fail(shown.error());
}

int apply(const ApplyArgs& args, Context& context) {
  auto status = apply_view(args, context);
  return status.ok() ? *status : fail(status.error());
}

}  // namespace paddock::cmd
