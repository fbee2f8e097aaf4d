#include "egress/gate/guard.h"

#include <fmt/core.h>

#include "base/strings.h"
#include "egress/gate/admitted.h"
#include "egress/gate/hold_push.h"
#include "egress/gate/push_limits.h"
#include "egress/git/push_report.h"
#include "sys/digest.h"

namespace paddock::egress {
namespace {

using http::BodySource;
using http::Refusal;
using http::Request;
using model::EgressEvent;

constexpr std::string_view kReceivePack = "/git-receive-pack";
constexpr size_t kMaxSignedBody = 16u << 20;  // that must be hashed before it is sent

// Every request must be meant for the host that the connection was made to.
Status check_authority(const Inspected& connection, const Request& request) {
  const auto authority = parse_authority(request.authority);
  if (!authority.ok()) return Error(Code::permission_denied, authority.error().describe());
  if (authority->host == connection.target.host &&
      (!authority->port || *authority->port == connection.target.port)) {
    return {};
  }
  return Error(Code::permission_denied,
               fmt::format("the request is for {}, the connection was made to {}:{}",
                           printable(request.authority), to_string(connection.target.host),
                           connection.target.port))
      .set_remedy("if the host is a proxy, allow it with protocol = \"tcp\"");
}

// Reads until `enough` says so or the body ends, and gives all of it back.
template <typename Enough>
Result<std::string> peek_body(net::Task& task, BodySource& body, size_t limit, Enough enough) {
  std::string seen;
  while (!enough(seen)) {
    const std::string more = PD_TRY(body.read(task));
    if (more.empty()) break;
    seen += more;
    if (seen.size() > limit) {
      return Error(Code::resource_exhausted,
                   fmt::format("more than {} bytes to be looked at first", limit));
    }
  }
  body.unread(seen);
  return seen;
}

// Reads the body to its end.
Status drain(net::Task& task, BodySource& body) {
  size_t drained = 0;
  while (true) {
    const std::string bytes = PD_TRY(body.read(task));
    if (bytes.empty()) return {};
    drained += bytes.size();
    if (drained > kMaxDrained) return Error(Code::resource_exhausted, "it goes on and on");
  }
}

Result<git::PushRequest> read_push_request(net::Task& task, const Request& request,
                                           BodySource& body) {
  if (http::find_field(request.fields, "content-encoding") != nullptr) {
    return Error(Code::permission_denied, "a compressed push hides what it changes");
  }
  Result<std::optional<git::PushRequest>> parsed{std::optional<git::PushRequest>()};
  PD_TRY(peek_body(task, body, kMaxCommands, [&](const std::string& seen) {
    parsed = git::parse_push_request(seen);
    return !parsed.ok() || parsed->has_value();
  }));
  std::optional<git::PushRequest> push = PD_TRY(std::move(parsed));
  if (!push) return Error(Code::data_corrupt, "a push without commands");
  return std::move(*push);
}

struct Judged {
  Verdict verdict;
  std::optional<GitOperation> git;
  std::optional<git::PushRequest> push;  // where it was read
};

// Asks the rules, and for the refs of a push when they need them.
Result<Judged> judge(net::Task& task, const Inspected& connection, const Policy& policy,
                     Request& request, BodySource& body) {
  Judged out{.verdict = {}, .git = find_git_operation(request), .push = {}};
  Seen seen = connection.seen;
  seen.request = &request;
  seen.git = out.git ? &*out.git : nullptr;
  out.verdict = policy.decide(connection.target, seen);
  if (out.verdict.answer == Answer::needs_bytes && out.git) {
    out.push = PD_TRY(read_push_request(task, request, body));
    out.git->refs = out.push->refs();
    out.verdict = policy.decide(connection.target, seen);
  }
  if (out.verdict.answer != Answer::needs_bytes && out.verdict.answer != Answer::needs_opening) {
    return out;
  }
  return Error(Code::permission_denied, "the rules cannot tell whether it is allowed");
}

// The real signature, over what the request has become.
Result<std::optional<SigV4Signature>> sign(net::Task& task, Request& request,
                                           const Injection& injection, BodySource& body) {
  if (!injection.sigv4) return std::optional<SigV4Signature>();
  const SigV4Payload payload = payload_of(request, *injection.sigv4);
  std::string hash;
  if (payload == SigV4Payload::of_body) {
    hash = sys::sha256_hex(
        PD_TRY(peek_body(task, body, kMaxSignedBody, [](const std::string&) { return false; })));
  }
  SigV4Signature signature = sign_again(request, *injection.sigv4, *injection.aws_key, hash);
  if (payload != SigV4Payload::in_chunks) return std::optional<SigV4Signature>();
  return std::optional(std::move(signature));
}

struct Prepared {
  Injection injection;
  std::optional<SigV4Signature> chunk_seed;
};

// Puts credentials on, where the connection is private.
Result<Prepared> prepare(net::Task& task, const Inspected& connection,
                         const CredentialSet& credentials, Request& request, BodySource& body) {
  Prepared out;
  if (connection.scheme == http::Scheme::http) {
    PD_TRY(credentials.check_strays(request));
    return out;
  }
  out.injection = PD_TRY(credentials.inject(connection.target, request));
  if (credentials.binds(connection.target)) {
    // So that a secret in the response can be seen, and masked.
    http::set_field(request.fields, "accept-encoding", "identity");
    http::remove_field(request.fields, "sec-websocket-extensions");
  }
  out.chunk_seed = PD_TRY(sign(task, request, out.injection, body));
  return out;
}

}  // namespace

EgressEvent Guard::event_of(const Request& request) const {
  EgressEvent event =
      begin_event(model::EgressEventKind::request,
                  {connection_.sandbox->id(), connection_.target, connection_.asker});
  event.protocol = connection_.protocol;
  event.method = printable(request.method);
  event.path = printable(request.path());
  return event;
}

http::RequestGuard::Answer Guard::refuse(EgressEvent event, const Error& error) {
  note_error(event, error);
  if (connection_.sink) connection_.sink(event);
  Refusal refusal = http::refusal_for(error);
  if (event.verdict == model::EgressVerdict::denied && refusal.rule.empty()) {
    refusal.status = 403;
    refusal.rule = event.rule;
  }
  return {.admitted = nullptr, .refusal = std::move(refusal)};
}

http::RequestGuard::Answer Guard::refuse(EgressEvent event, const Verdict& verdict) {
  note_verdict(event, verdict);
  if (connection_.sink) connection_.sink(event);
  return {.admitted = nullptr,
          .refusal = {
              .status = 403, .rule = event.rule, .reason = event.reason, .remedy = event.remedy}};
}

// Git reads why from its own answer, once it has sent all of its own.
http::RequestGuard::Answer Guard::refuse_push(net::Task& task, Answer answer,
                                              const git::PushRequest& push, BodySource& body) {
  Refusal& refusal = answer.refusal;
  std::string report = git::refuse_push(push, refusal.reason);
  if (report.empty() || !drain(task, body).ok()) return answer;
  refusal.status = 200;
  refusal.body = std::move(report);
  refusal.content_type = "application/x-git-receive-pack-result";
  return answer;
}

http::RequestGuard::Answer Guard::hold(net::Task& task, EgressEvent event, const Push& what,
                                       const Request& request, BodySource& body) {
  note_verdict(event, what.verdict);
  note_held(event, keep(task, event, what, request, body));
  if (connection_.sink) connection_.sink(event);
  Answer answer{
      .admitted = nullptr,
      .refusal = {
          .status = 403, .rule = event.rule, .reason = event.reason, .remedy = event.remedy}};
  return refuse_push(task, std::move(answer), what.request, body);
}

Result<HeldPush> Guard::keep(net::Task& task, const EgressEvent& event, const Push& what,
                             const Request& request, BodySource& body) {
  if (connection_.scheme == http::Scheme::http || connection_.pushes == nullptr) {
    return Error(Code::unsupported, "a push in the clear is not held").set_remedy("use https");
  }
  HeldPush about;
  about.sandbox = connection_.sandbox->id();
  about.transport = GitTransport::https;
  about.host = event.host;
  about.port = event.port;
  about.path = request.path();
  about.path.resize(about.path.size() - kReceivePack.size());
  about.repository = what.operation.repository;
  about.rule = event.rule;
  about.reason = what.verdict.reason;
  return hold_push(task, *connection_.pushes, std::move(about), what.request, body);
}

void Guard::see_malformed(const Error& error) {
  EgressEvent event = event_of(Request());
  note_error(event, error);
  if (connection_.sink) connection_.sink(event);
}

http::RequestGuard::Answer Guard::decide(net::Task& task, Request& request, BodySource& body) {
  EgressEvent event = event_of(request);
  const SandboxRules rules = connection_.sandbox->rules();
  if (Status checked = check_authority(connection_, request); !checked.ok()) {
    return refuse(std::move(event), std::move(checked).error());
  }
  auto judged = judge(task, connection_, *rules.policy, request, body);
  if (!judged.ok()) return refuse(std::move(event), judged.error());
  const Verdict* verdict = &judged->verdict;
  if (verdict->answer == egress::Answer::hold) {
    return hold(task, std::move(event), {*verdict, *judged->git, *judged->push}, request, body);
  }
  if (verdict->answer == egress::Answer::deny) {
    Answer answer = refuse(std::move(event), *verdict);
    if (!judged->push) return answer;
    return refuse_push(task, std::move(answer), *judged->push, body);
  }
  note_verdict(event, *verdict);
  auto metering = connection_.sandbox->meter(rules.policy, *verdict);
  if (!metering.ok()) return refuse(std::move(event), metering.error());
  const Request asked = request;
  Prepared prepared;
  if (rules.credentials != nullptr) {
    auto done = prepare(task, connection_, *rules.credentials, request, body);
    if (!done.ok()) return refuse(std::move(event), done.error());
    prepared = std::move(*done);
  }
  event.credentials = prepared.injection.credentials;
  const bool masks = rules.credentials != nullptr && connection_.scheme == http::Scheme::https &&
                     rules.credentials->binds(connection_.target);
  return {.admitted = admit({.connection = connection_,
                             .asked = asked,
                             .git = std::move(judged->git),
                             .policy = rules.policy,
                             .event = std::move(event),
                             .metering = std::move(*metering),
                             .credentials = rules.credentials,
                             .masks = masks,
                             .injected = !prepared.injection.empty(),
                             .chunk_seed = std::move(prepared.chunk_seed)}),
          .refusal = {}};
}

}  // namespace paddock::egress
