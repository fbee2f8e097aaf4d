#include "egress/gate/git_over_ssh.h"

#include <fmt/core.h>

#include "base/strings.h"
#include "egress/credentials/scanner.h"
#include "egress/gate/hold_push.h"
#include "egress/gate/push_limits.h"
#include "egress/gate/ssh_push.h"
#include "egress/git/exec_command.h"
#include "egress/git/push_report.h"
#include "egress/ssh/helper.h"
#include "egress/ssh/host.h"
#include "sys/clock.h"

namespace paddock::egress {
namespace {

using namespace std::chrono_literals;
using model::EgressEvent;
using wire::SshFrame;
using wire::SshFrameKind;

constexpr auto kCommand = 45s;  // for keys to be agreed on and a command to be asked for
constexpr auto kParting = 5s;   // for the program to take leave

// Versions of git's protocol; anything else is nothing that a host should be told.
std::string protocol_of(std::string_view asked) {
  const bool known = asked == "version=0" || asked == "version=1" || asked == "version=2";
  return known ? std::string(asked) : std::string();
}

class GitOverSsh {
 public:
  explicit GitOverSsh(SshConnection connection)
      : connection_(std::move(connection)),
        began_(sys::monotonic_us()),
        event_(begin_event(model::EgressEventKind::request,
                           {what().sandbox->id(), what().target, what().asker})) {
    event_.protocol = "ssh";
  }

  Status run(net::Task& task) {
    PD_TRY(what().sandbox->begin_ssh());
    const Status status = run_counted(task);
    what().sandbox->end_ssh();
    return status;
  }

 private:
  const Inspected& what() const { return connection_.what; }

  Status run_counted(net::Task& task) {
    const ssh::HostKey key = PD_TRY(connection_.core.ssh_host_key());
    program_ = PD_TRY(ssh::Helper::start(net::loop_of(task), connection_.core.ssh_program, "serve",
                                         connection_.client));
    Status status = talk(task, key);
    program_->stop(task, status.ok() ? kParting : 0s);
    return status;
  }

  Status talk(net::Task& task, const ssh::HostKey& key) {
    PD_TRY(program_->write(task, SshFrameKind::setup,
                           wire::join_fields({std::string(key.private_key.reveal())})));
    const SshFrame asked = PD_TRY(program_->read_within(task, kCommand));
    const std::vector<std::string> fields = wire::split_fields(asked.payload);
    if (asked.kind != SshFrameKind::request || fields.size() != 4) {
      return Error(Code::internal, "paddock-ssh: a request that is none");
    }
    Status done = serve(task, fields[1], fields[2], protocol_of(fields[3]));
    if (host_ != nullptr) leave_host(task);
    report(done);
    if (done.ok() || told_) return {};
    return refuse(task, Status(done).error());
  }

  Status serve(net::Task& task, const std::string& kind, const std::string& asked,
               std::string git_protocol) {
    event_.method = printable(kind == "exec" ? asked.substr(0, asked.find(' ')) : kind);
    if (kind != "exec") {
      return Error(Code::permission_denied, "only git fetch and push are carried, no " + kind);
    }
    command_ = PD_TRY(git::parse_exec_command(asked));
    event_.method = command_.program();
    event_.path = (command_.path.starts_with('/') ? "" : "/") + command_.path;
    operation_ = GitOperation{.repository = command_.repository, .step = command_.step, .refs = {}};
    rules_ = what().sandbox->rules();
    PD_TRY(settle(decide()));
    metering_ = PD_TRY(what().sandbox->meter(rules_.policy, verdict_));
    PD_TRY(start_on_host(task, std::move(git_protocol)));
    return carry(task);
  }

  Verdict decide() const {
    Seen seen = what().seen;
    seen.git = &operation_;
    return rules_.policy->decide(what().target, seen);
  }

  // Notes what was decided; an error unless it is allowed.
  Status settle(Verdict verdict) {
    verdict_ = std::move(verdict);
    note_verdict(event_, verdict_);
    if (verdict_.answer == Answer::allow) return {};
    if (verdict_.answer == Answer::deny || verdict_.answer == Answer::hold) {
      return Error(Code::permission_denied, fmt::format("{} ({})", event_.reason, event_.rule))
          .set_remedy(event_.remedy);
    }
    return Error(Code::permission_denied, "the rules cannot tell whether it is allowed");
  }

  Status start_on_host(net::Task& task, std::string git_protocol) {
    const SshIdentity identity = PD_TRY(ssh::identity_for(rules_.credentials.get(), what().target));
    net::Stream* stream = PD_TRY(connection_.upstream(task));
    host_ = PD_TRY(ssh::start_on_host(task, *stream,
                                      {.program = connection_.core.ssh_program,
                                       .target = what().target,
                                       .identity = identity,
                                       .known_hosts = rules_.known_hosts,
                                       .command = command_.command(),
                                       .git_protocol = std::move(git_protocol)}));
    event_.credentials = {identity.credential};
    return {};
  }

  // Two coroutines: this one passes on what the program sends, another what the host does.
  Status carry(net::Task& task) {
    answered_.emplace(net::loop_of(task));
    net::loop_of(task).spawn([this](net::Task& other) {
      answers_ = carry_answers(other);
      answered_->set();
      if (!answers_.ok() && !leaving_) program_->cancel_reads();
    });
    PD_TRY(carry_requests(task));
    answered_->wait_surely(task);
    return answers_;
  }

  // --- from the host

  Status carry_answers(net::Task& task) {
    while (true) {
      const auto frame = PD_TRY(host_->read(task));
      if (!frame) return Error(Code::unavailable, "ssh: the host ended the connection");
      event_.response_bytes += frame->payload.size();
      PD_TRY(metering_.add_response(frame->payload.size()));
      PD_TRY(check_rules());
      PD_TRY(program_->write(task, frame->kind, frame->payload));
      if (frame->kind == SshFrameKind::exit) {
        told_ = true;
        return {};
      }
    }
  }

  // --- from the program

  bool host_failed() const { return answered_->is_set() && !answers_.ok(); }

  // Until the program takes leave, which it does when it has been told how its command ended.
  Status carry_requests(net::Task& task) {
    bool judged = command_.step == GitStep::fetch;
    while (true) {
      auto frame = program_->read(task);
      if (host_failed()) return answers_;
      const auto found = PD_TRY(std::move(frame));
      if (!found) return told_ ? Status() : gone();
      if (found->kind == SshFrameKind::end) (void)host_->write(task, SshFrameKind::end, "");
      if (found->kind != SshFrameKind::data) continue;
      PD_TRY(look_at(found->payload));
      if (judged) {
        PD_TRY(send_on(task, found->payload));
      } else {
        begun_ += found->payload;
        judged = PD_TRY(judge_push(task));
      }
    }
  }

  // The host may have said all that it will: then it does not mind.
  Status send_on(net::Task& task, std::string_view bytes) {
    const Status sent = host_->write(task, SshFrameKind::data, bytes);
    return sent.ok() || answered_->is_set() ? Status() : sent;
  }

  Status gone() {
    leaving_ = true;
    host_->abort();
    return Error(Code::unavailable, "the program ended the connection");
  }

  Status look_at(std::string_view bytes) {
    event_.request_bytes += bytes.size();
    PD_TRY(metering_.add_request(bytes.size()));
    PD_TRY(check_rules());
    if (rules_.credentials == nullptr) return {};
    if (!scanner_) scanner_.emplace(rules_.credentials->placeholders(), OnFound::stop);
    std::string passed;
    const auto found = scanner_->feed(bytes, passed);
    return found ? Status(rules_.credentials->stray(*found)) : Status();
  }

  // Rules may have changed since the command was let through.
  Status check_rules() {
    const SandboxRules now = what().sandbox->rules();
    if (now.policy == rules_.policy) return {};
    rules_.policy = now.policy;
    if (decide().answer == Answer::allow) return {};
    return Error(Code::permission_denied, "the rules have changed and do not allow it any more");
  }

  // Whether the commands were seen, and sent on.
  Result<bool> judge_push(net::Task& task) {
    const auto push = PD_TRY(git::parse_push_request(begun_));
    if (!push && begun_.size() > kMaxCommands) {
      return Error(Code::data_corrupt, "the commands of a push go on and on");
    }
    if (!push) return false;
    operation_.step = GitStep::push;
    operation_.refs = push->refs();
    const Status settled = settle(decide());
    if (!settled.ok()) {
      PD_TRY(refuse_push(task, *push));
      return Status(settled).error();
    }
    PD_TRY(send_on(task, std::exchange(begun_, {})));
    return true;
  }

  // In git's own words, once the program has sent all of it. The host never hears of it.
  Status refuse_push(net::Task& task, const git::PushRequest& push) {
    leave_host(task);
    SshPushSource bytes(*program_, push, std::exchange(begun_, {}));
    if (verdict_.answer == Answer::hold) hold(task, push, bytes);
    PD_TRY(drain(task, bytes));
    const std::string answer = git::refuse_push(push, event_.reason);
    if (answer.empty()) return {};
    PD_TRY(program_->write(task, SshFrameKind::data, answer));
    PD_TRY(program_->write(task, SshFrameKind::end, ""));
    told_ = true;
    return program_->write(task, SshFrameKind::exit, "1");
  }

  void hold(net::Task& task, const git::PushRequest& push, http::BodySource& bytes) {
    HeldPush about;
    about.sandbox = what().sandbox->id();
    about.transport = GitTransport::ssh;
    about.host = event_.host;
    about.port = event_.port;
    about.path = command_.path;
    about.repository = command_.repository;
    about.rule = event_.rule;
    about.reason = verdict_.reason;
    note_held(event_, hold_push(task, connection_.core.pushes, std::move(about), push, bytes));
  }

  static Status drain(net::Task& task, http::BodySource& bytes) {
    for (size_t drained = 0; drained < kMaxDrained;) {
      const std::string more = PD_TRY(bytes.read(task));
      if (more.empty()) return {};
      drained += more.size();
    }
    return {};
  }

  void leave_host(net::Task& task) {
    if (answered_ && !answered_->is_set()) {
      leaving_ = true;
      host_->abort();
      answered_->wait_surely(task);
    }
    host_->stop(task, 0s);
  }

  // --- ends

  Status refuse(net::Task& task, const Error& error) {
    std::string text = "paddock: " + printable(error.describe()) + "\n";
    if (!error.remedy().empty()) text += "paddock: what helps: " + printable(error.remedy()) + "\n";
    PD_TRY(program_->write(task, SshFrameKind::error_data, text));
    return program_->write(task, SshFrameKind::exit, "128");
  }

  void report(const Status& done) {
    event_.duration_us = static_cast<uint64_t>(sys::monotonic_us() - began_);
    event_.address = what().address;
    const bool denied = event_.verdict == model::EgressVerdict::denied;
    if (!done.ok() && !denied) note_error(event_, Status(done).error());
    if (what().sink) what().sink(event_);
  }

  SshConnection connection_;
  const int64_t began_;
  EgressEvent event_;
  SandboxRules rules_;
  git::ExecCommand command_;
  GitOperation operation_;
  Verdict verdict_;
  Metering metering_;
  std::unique_ptr<ssh::Helper> program_, host_;
  std::optional<Scanner> scanner_;
  std::string begun_;  // of a push that is not judged yet
  std::optional<net::Event> answered_;
  Status answers_;
  bool leaving_ = false;  // the host is left on purpose
  bool told_ = false;     // the program has been told how its command ended
};

}  // namespace

Status serve_git_over_ssh(net::Task& task, SshConnection connection) {
  return GitOverSsh(std::move(connection)).run(task);
}

}  // namespace paddock::egress
