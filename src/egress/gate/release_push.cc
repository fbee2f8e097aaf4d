#include "egress/gate/release_push.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "egress/credentials/scanner.h"
#include "egress/gate/push_channel.h"
#include "egress/gate/push_limits.h"
#include "egress/git/operation.h"
#include "sys/clock.h"
#include "sys/files.h"

namespace paddock::egress {
namespace {

constexpr size_t kMaxReason = 1024;

// What is to be held may be released; what the rules refuse by now may not.
Status check_rules(const HeldPush& push, const Target& target, const Policy& policy) {
  GitOperation operation{.repository = push.repository, .step = GitStep::push, .refs = {{}}};
  for (const git::RefChange& change : push.changes) operation.refs->push_back(change.ref);
  const bool ssh = push.transport == GitTransport::ssh;
  const http::Request request{
      .method = "POST", .target = push.path + "/git-receive-pack", .authority = push.host};
  Seen seen{.wire = ssh ? Wire::ssh : Wire::tls, .opening = Opening::done, .git = &operation};
  if (!ssh) seen.request = &request;
  const Verdict verdict = policy.decide(target, seen);
  if (verdict.answer == Answer::allow || verdict.answer == Answer::hold) return {};
  return Error(Code::permission_denied, fmt::format("the rules refuse this push by now: {} ({})",
                                                    verdict.reason, verdict.rule_name()))
      .set_remedy("allow it, or hold it, in the policy that holds where you are");
}

Status check_state(const HeldPush& push) {
  if (push.state != PushState::released) return {};
  return Error(Code::failed_precondition, "it has been released already");
}

struct Compared {
  std::set<std::string> done;  // refs that are what the push makes them
  std::vector<std::string> moved;
};

// The host's refs against what the program had seen.
Compared compare(const HeldPush& push, const git::Refs& refs) {
  Compared out;
  for (const git::RefChange& change : push.changes) {
    const auto found = refs.find(change.ref);
    const bool absent = found == refs.end();
    const auto is = [&](const std::string& id) {
      return absent ? git::is_null_id(id) : found->second == id;
    };
    if (is(change.new_id)) {
      out.done.insert(change.ref);
    } else if (!is(change.old_id)) {
      out.moved.push_back(
          fmt::format("{} is {} there, and was {} when it was pushed", printable(change.ref),
                      absent ? "gone" : found->second.substr(0, 10),
                      git::is_null_id(change.old_id) ? "not there" : change.old_id.substr(0, 10)));
    }
  }
  return out;
}

Error moved_on(const Compared& compared) {
  return Error(Code::conflict, "the host has moved on: " + join(compared.moved, "; "))
      .set_remedy("let the program fetch and push again, and drop this one");
}

// The commands as they were kept: what the answer is to be read by.
Result<git::PushRequest> read_commands(const PushStore& store, const HeldPush& push) {
  const sys::FileFd file = PD_TRY(store.open_request(push.id));
  std::string head(kMaxCommands, '\0');
  const ssize_t count = ::pread(file.get(), head.data(), head.size(), 0);
  if (count < 0) return Error::from_errno(errno, "reading a held push");
  head.resize(static_cast<size_t>(count));
  auto request = PD_TRY(git::parse_push_request(head));
  if (request && request->changes == push.changes) return std::move(*request);
  return Error(Code::data_corrupt, "its record and its commands do not agree");
}

// A ref that was there before is done, whatever the host says of doing it again.
void forgive(git::PushReport& report, const std::set<std::string>& done) {
  for (git::RefResult& result : report.refs) {
    if (done.contains(result.ref)) result.problem.clear();
  }
}

void mask(const SandboxRules& rules, git::PushReport& report) {
  if (rules.credentials == nullptr) return;
  const auto& secrets = rules.credentials->secrets();
  report.messages = Scanner::mask(secrets, report.messages);
  report.unpack_problem = Scanner::mask(secrets, report.unpack_problem);
  for (git::RefResult& result : report.refs)
    result.problem = Scanner::mask(secrets, result.problem);
}

Status save(const PushStore& store, HeldPush& push, PushState state) {
  push.state = state;
  if (state == PushState::released) push.released_ms = sys::wall_clock_ms();
  return store.save(push);
}

Result<git::PushReport> send(net::Task& task, const PushStore& store, HeldPush& push,
                             PushChannel& channel) {
  const git::PushRequest request = PD_TRY(read_commands(store, push));
  const sys::FileFd file = PD_TRY(store.open_request(push.id));
  PD_TRY(save(store, push, PushState::releasing));
  auto answer = channel.send(task, file, push.bytes);
  auto report = answer.ok() ? git::parse_push_report(request, *answer)
                            : Result<git::PushReport>(std::move(answer).error());
  if (report.ok()) return report;
  return std::move(report.error()
                       .add_context("whether it arrived is not known")
                       .set_remedy("release it again: what has arrived is not sent twice"));
}

Status talk(net::Task& task, const PushPlace& place, PushChannel& channel, ReleasedPush& out) {
  const Compared compared = compare(out.push, PD_TRY(channel.refs(task)));
  if (!compared.moved.empty()) return moved_on(compared);
  if (compared.done.size() == out.push.changes.size()) {
    out.already_there = true;
    return {};
  }
  out.report = PD_TRY(send(task, place.core.pushes, out.push, channel));
  forgive(out.report, compared.done);
  mask(place.rules, out.report);
  return {};
}

Status attempt(net::Task& task, Core& core, const SandboxRules& rules, ReleasedPush& out) {
  const Target target{PD_TRY(parse_host(out.push.host)), out.push.port};
  PD_TRY(check_rules(out.push, target, *rules.policy));
  const HeldPush asked = out.push;
  const PushPlace place{core, rules, target, asked};
  const auto channel =
      asked.transport == GitTransport::ssh ? open_ssh_push(place) : open_https_push(place);
  const Status talked = talk(task, place, *channel, out);
  channel->leave(task);
  return talked;
}

std::string problem_of(const git::PushReport& report) {
  std::vector<std::string> problems;
  if (!report.unpack_problem.empty()) problems.push_back(report.unpack_problem);
  for (const git::RefResult& result : report.refs) {
    if (!result.problem.empty()) problems.push_back(result.ref + ": " + result.problem);
  }
  return join(problems, "; ");
}

// For the record: who let it out, or tried to.
void note(ReleasedPush& out, const Status& attempted) {
  PushRelease release{.time_ms = sys::wall_clock_ms(), .uid = ::getuid(), .reason = {}};
  if (!attempted.ok()) {
    const Error error = Status(attempted).error();
    const bool refused = error.code() == Code::permission_denied;
    release.end = refused ? ReleaseEnd::refused : ReleaseEnd::failed;
    release.reason = error.describe();
  } else if (out.already_there) {
    release.end = ReleaseEnd::already_there;
  } else if (out.report.ok()) {
    release.end = ReleaseEnd::sent;
  } else {
    release.end = ReleaseEnd::refused;
    release.reason = problem_of(out.report);
  }
  release.reason.resize(std::min(release.reason.size(), kMaxReason));
  std::vector<PushRelease>& all = out.push.releases;
  all.push_back(std::move(release));
  if (all.size() > kMaxPushReleases) all.erase(all.begin());
}

}  // namespace

Result<ReleasedPush> release_push(net::Task& task, Core& core, const SandboxRules& rules,
                                  const std::string& id) {
  ReleasedPush out{.push = PD_TRY(core.pushes.find(id)), .report = {}};
  const sys::FileFd lock = PD_TRY(core.pushes.lock(out.push.id));
  out.push = PD_TRY(core.pushes.find(out.push.id.str()));
  PD_TRY(check_state(out.push));
  Status attempted = attempt(task, core, rules, out);
  note(out, attempted);
  if (!attempted.ok()) {
    PD_TRY(core.pushes.save(out.push));
    return std::move(attempted).error();
  }
  const bool done = out.already_there || out.report.ok();
  PD_TRY(save(core.pushes, out.push, done ? PushState::released : PushState::held));
  if (done) PD_TRY(core.pushes.forget_request(out.push.id));
  return out;
}

}  // namespace paddock::egress
