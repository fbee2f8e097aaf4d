// pushes, pushes show, release and drop: what a rule held for review.
#include <fmt/core.h>

#include <boost/json.hpp>

#include "base/strings.h"
#include "cmd/console.h"
#include "cmd/push_commits.h"
#include "cmd/verbs.h"
#include "engine/push_release.h"
#include "model/json.h"

namespace paddock::cmd {
namespace {

using egress::HeldPush;
using egress::PushState;

std::string short_object(const std::string& id) {
  return egress::git::is_null_id(id) ? "none" : id.substr(0, 10);
}

std::string refs_of(const HeldPush& push) {
  std::vector<std::string> refs;
  for (const auto& change : push.changes) refs.push_back(change.ref);
  return join(refs, " ");
}

Status list_pushes(const PushesArgs& args, const egress::PushStore& store) {
  const std::vector<HeldPush> all = PD_TRY(store.all());
  if (args.json) {
    boost::json::array list;
    for (const HeldPush& push : all) list.push_back(egress::to_json(push));
    print(model::pretty_json(list));
    return {};
  }
  std::vector<std::vector<std::string>> rows{{"PUSH", "STATE", "HELD", "SIZE", "TO", "REFS"}};
  for (const HeldPush& push : all) {
    rows.push_back({push.id.str(), std::string(name_of(egress::kPushStateNames, push.state)),
                    ago(push.held_ms), approximate_bytes(push.bytes), push.url(), refs_of(push)});
  }
  if (all.empty()) {
    say("no pushes: a rule with `hold` keeps those that are to be reviewed");
  } else {
    print(table(rows));
  }
  return {};
}

boost::json::array to_json(const std::vector<PushedCommit>& commits) {
  boost::json::array list;
  for (const PushedCommit& commit : commits) {
    boost::json::object entry;
    entry["id"] = commit.id;
    model::put_bytes(entry, "author", commit.author);
    model::put_bytes(entry, "date", commit.date);
    model::put_bytes(entry, "subject", commit.subject);
    list.push_back(std::move(entry));
  }
  return list;
}

void print_push(const HeldPush& push) {
  print(fmt::format("{} {}\n  to {} (repository {})\n  held {} by {}: {}\n  from sandbox {}\n",
                    styled(1, Style::bold, push.id.str()),
                    name_of(egress::kPushStateNames, push.state), printable(push.url()),
                    printable(push.repository), ago(push.held_ms), push.rule,
                    printable(push.reason), push.sandbox.str()));
  for (const auto& change : push.changes) {
    print(fmt::format("  {} {} -> {}\n", printable(change.ref), short_object(change.old_id),
                      short_object(change.new_id)));
  }
}

void print_releases(const HeldPush& push) {
  for (const egress::PushRelease& release : push.releases) {
    print(fmt::format("  release {} by user {}: {}{}\n", ago(release.time_ms), release.uid,
                      name_of(egress::kReleaseEndNames, release.end),
                      release.reason.empty() ? "" : ", " + printable(release.reason)));
  }
}

void print_contents(const Result<PushContents>& contents) {
  if (!contents.ok()) {
    print("\n");
    say("its commits cannot be shown: " + contents.error().describe());
    if (!contents.error().remedy().empty()) say(contents.error().remedy());
    return;
  }
  print(fmt::format("\n{}\n", styled(1, Style::bold, plural(contents->commits.size(), "commit"))));
  for (const PushedCommit& commit : contents->commits) {
    print(fmt::format("  {} {}  {}, {}\n", commit.id.substr(0, 10), printable(commit.subject),
                      printable(commit.author), printable(commit.date)));
  }
  if (!contents->patch.empty()) print_untrusted("\n" + contents->patch);
}

Status show_push(const PushesArgs& args, const egress::PushStore& store, Context& context) {
  const HeldPush push = PD_TRY(store.find(args.id));
  Result<PushContents> contents{PushContents()};
  if (push.state != PushState::released) {
    contents = read_push({.store = store,
                          .push = push,
                          .scratch = PD_TRY(context.home()) / "pushes",
                          .near = context.caller().directory,
                          .patch = args.patch ? PushReading::Patch::yes : PushReading::Patch::no});
  }
  if (args.json) {
    boost::json::object out = egress::to_json(push);
    out["commits"] = contents.ok() ? boost::json::value(to_json(contents->commits)) : nullptr;
    if (!contents.ok()) out["unreadable"] = contents.error().describe();
    print(model::pretty_json(out));
    return {};
  }
  print_push(push);
  print_releases(push);
  if (push.state != PushState::released) print_contents(contents);
  return {};
}

Status release_push(const PushesArgs& args, Context& context) {
  const auto settings = PD_TRY(context.settings(model::HostPath(), {})).settings;
  const model::HostPath home = PD_TRY(context.home());
  const std::string ssh_program = PD_TRY(context.ssh_program());
  const egress::ReleasedPush released =
      PD_TRY(engine::release_push({.id = args.id,
                                   .settings = settings,
                                   .caller_environment = context.caller().environment,
                                   .caller_home = context.caller().home,
                                   .home = home,
                                   .ssh_program = ssh_program}));
  for (const std::string& line : split(released.report.messages, '\n')) {
    if (!trim(line).empty()) say("remote: " + printable(line));
  }
  const std::string place = printable(released.push.url());
  if (released.already_there) {
    say(fmt::format("{} has these refs already: nothing was sent", place));
    return {};
  }
  if (released.report.ok()) {
    say(fmt::format("pushed to {}: {}", place, printable(refs_of(released.push))));
    return {};
  }
  std::vector<std::string> problems;
  if (!released.report.unpack_problem.empty()) problems.push_back(released.report.unpack_problem);
  for (const auto& result : released.report.refs) {
    if (!result.problem.empty()) problems.push_back(result.ref + ": " + result.problem);
  }
  return Error(Code::conflict,
               fmt::format("releasing push {}: {} refused it: {}", released.push.id.str(), place,
                           printable(join(problems, "; "))))
      .set_remedy("it is still held");
}

Status drop_push(const PushesArgs& args, const egress::PushStore& store) {
  const HeldPush push = PD_TRY(store.find(args.id));
  const sys::FileFd lock = PD_TRY(store.lock(push.id));
  PD_TRY(store.remove(push.id));
  say("dropped push " + push.id.str());
  return {};
}

Status act(const PushesArgs& args, Context& context) {
  const egress::PushStore store = engine::push_store(PD_TRY(context.home()));
  switch (args.verb) {
    case PushesArgs::Verb::list:
      return list_pushes(args, store);
    case PushesArgs::Verb::show:
      return show_push(args, store, context);
    case PushesArgs::Verb::release:
      return release_push(args, context);
    case PushesArgs::Verb::drop:
      return drop_push(args, store);
  }
  return {};
}

}  // namespace

int pushes(const PushesArgs& args, Context& context) {
  const Status status = act(args, context);
  return status.ok() ? 0 : fail(Status(status).error());
}

}  // namespace paddock::cmd
