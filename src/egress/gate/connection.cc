#include "egress/gate/connection.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/strings.h"
#include "egress/credentials/scanner.h"
#include "egress/gate/git_over_ssh.h"
#include "egress/gate/interception.h"
#include "egress/http/http1_proxy.h"
#include "egress/http/http2_proxy.h"
#include "net/borrowed_stream.h"
#include "sys/clock.h"

namespace paddock::egress {
namespace {

using namespace std::chrono_literals;
using model::EgressProtocol;

constexpr std::chrono::milliseconds kFirstBytes = 15s;  // for a client that must speak first
constexpr auto kHurried = 300ms;  // for the rest of its first bytes, when the host may be to speak
constexpr auto kAlertRead = 1s;

bool all_rules(const Verdict& verdict, bool (*holds)(const Rule&)) {
  return !verdict.rules.empty() && std::all_of(verdict.rules.begin(), verdict.rules.end(),
                                               [&](const Rule* rule) { return holds(*rule); });
}
bool accepts_opaque_tls(const Rule& rule) {
  return rule.source().opaque_tls == model::OpaqueTls::accepted;
}
bool is_exempt(const Rule& rule) {
  return rule.source().inspect == model::Inspection::never;
}
bool looks_at_nothing(const Rule& rule) {
  return rule.source().protocol == EgressProtocol::tcp;
}

bool offers_http(const tls::ClientHello& hello) {
  return hello.protocols.empty() ||
         std::any_of(hello.protocols.begin(), hello.protocols.end(), [](const std::string& name) {
           return name == "h2" || name.starts_with("http/");
         });
}

// Answers every request with the failure of the host's side.
class FailingGuard : public http::RequestGuard {
 public:
  explicit FailingGuard(Error error) : error_(std::move(error)) {}

  Answer decide(net::Task&, http::Request&, http::BodySource&) override {
    return {.admitted = nullptr, .refusal = http::refusal_for(error_)};
  }
  void see_malformed(const Error&) override {}

 private:
  Error error_;
};

}  // namespace

Connection::Connection(Parts parts, sys::SocketFd stream)
    : parts_(std::move(parts)), client_(parts_.loop, std::move(stream)) {
  event_ = begin_event(model::EgressEventKind::connection,
                       {parts_.sandbox->id(), parts_.target, parts_.asker});
}

void Connection::run(net::Task& task) {
  const int64_t began = sys::monotonic_us();
  const Status status = serve(task);
  event_.duration_us = static_cast<uint64_t>(sys::monotonic_us() - began);
  finish(status);
  parts_.sandbox->leave(shared_from_this());
}

void Connection::finish(const Status& status) {
  std::string reason;
  if (!aborted_.empty()) {
    reason = aborted_;
    event_.reason = aborted_;
    if (abort_ == Abort::refused) event_.verdict = model::EgressVerdict::denied;
  } else if (!status.ok()) {
    const Error error = Status(status).error();
    reason = error.describe();
    if (event_.verdict != model::EgressVerdict::denied) note_error(event_, error);
  }
  if ((reports_ || !aborted_.empty()) && parts_.core.sink) parts_.core.sink(event_);
  if (!reason.empty()) client_.abort();
  if (parts_.on_end) parts_.on_end(reason.empty() ? Ending::closed : Ending::aborted, reason);
}

void Connection::abort(Abort how, std::string why) {
  if (aborted_.empty()) {
    aborted_ = std::move(why);
    abort_ = how;
  }
  client_.abort();
  if (upstream_ != nullptr) upstream_->abort();
}

bool Connection::is_still_allowed() const {
  const SandboxRules rules = parts_.sandbox->rules();
  const Answer answer = rules.policy->decide(parts_.target, seen_).answer;
  // What passes can not be looked into any more. Requests are judged one by one (Guard, Admitted).
  if (answer == Answer::deny || (passes_ && answer != Answer::allow)) return false;
  if (!is_named_host_allowed(*rules.policy)) return false;
  if (event_.address.empty()) return true;
  const auto address = model::IpAddress::parse(event_.address);
  return address.ok() && parts_.core.dialler.check(parts_.target, *address, *rules.policy).ok();
}

// Of TLS that was let through by number: the host that its hello asked for.
bool Connection::is_named_host_allowed(const Policy& policy) const {
  if (seen_.hello == nullptr || !seen_.hello->server_name) return true;
  const auto name = HostName::parse(*seen_.hello->server_name);
  return name.ok() && !policy.refusal_of(Host(*name), parts_.target.port);
}

void Connection::recheck() {
  if (!is_still_allowed())
    abort(Abort::refused, "the rules have changed and do not allow it any more");
}

bool Connection::is_bound() const {
  return rules_.credentials != nullptr && rules_.credentials->binds(parts_.target);
}

Status Connection::serve(net::Task& task) {
  rules_ = parts_.sandbox->rules();
  const Verdict verdict = decide();
  if (verdict.answer == Answer::deny) return refuse(task, verdict);
  if (verdict.answer == Answer::allow && !is_bound()) {
    // Either side may speak first. If it is the host, the stream is neither TLS nor HTTP.
    if (const Status connected = connect(task); !connected.ok()) return connected;
    if (PD_TRY(net::wait_either(task, client_, *upstream_)) == net::First::b) {
      return pass_through(task, verdict);
    }
    const bool tcp = all_rules(verdict, looks_at_nothing);
    PD_TRY(read_first_bytes(task, tcp ? LookFor::tls : LookFor::any_protocol, Pace::hurried));
    return serve_seen(task);
  }
  PD_TRY(read_first_bytes(task, LookFor::any_protocol, Pace::patient));
  return serve_seen(task);
}

// Until they tell what they are, or the client keeps silent.
Status Connection::read_first_bytes(net::Task& task, LookFor look_for, Pace pace) {
  const auto patience = pace == Pace::hurried ? std::chrono::milliseconds(kHurried) : kFirstBytes;
  net::Deadline deadline(parts_.loop, patience, [this] { client_.cancel_waits(); });
  std::array<char, 4096> buffer;
  while (true) {
    if (auto known = classify_first_bytes(prefix_, look_for)) {
      first_ = std::move(*known);
      break;
    }
    auto count = client_.read(task, buffer);
    const bool late = deadline.expired();
    if (!count.ok() && !late) return std::move(count).error();
    if (!count.ok() || *count == 0) {
      first_.wire = prefix_.empty() ? Wire::silent : Wire::other;
      if (late) unclear_ = prefix_;
      break;
    }
    prefix_.append(buffer.data(), *count);
  }
  seen_.wire = first_.wire;
  seen_.hello = first_.hello ? &*first_.hello : nullptr;
  event_.protocol = protocol_name(first_.wire);
  return {};
}

// Of a stream that passes although its first bytes told nothing in time: it must not turn out to be
// what would have been looked into.
Status Connection::watch_unclear(std::string_view bytes) {
  if (unclear_.empty()) return {};
  unclear_ += bytes;
  const auto known = classify_first_bytes(unclear_);
  if (!known) return {};
  unclear_.clear();
  if (known->wire != Wire::tls && known->wire != Wire::http) return {};
  return Error(Code::permission_denied, fmt::format("{} that begins too slowly to be looked at",
                                                    protocol_name(known->wire)));
}

Status Connection::serve_seen(net::Task& task) {
  rules_ = parts_.sandbox->rules();  // the first bytes took their time
  const Verdict verdict = decide();
  if (verdict.answer == Answer::deny) return refuse(task, verdict);
  if (seen_.wire == Wire::tls) return serve_tls(task, verdict);
  if (seen_.wire == Wire::ssh && verdict.answer == Answer::needs_opening) return inspect_ssh(task);
  const bool passes = verdict.answer == Answer::allow;
  if (seen_.wire == Wire::http && !(passes && all_rules(verdict, looks_at_nothing))) {
    return inspect_plain(task);
  }
  if (passes) return pass_through(task, verdict);
  return refuse(task,
                Error(Code::permission_denied, "the rules cannot tell whether it is allowed"));
}

Status Connection::serve_tls(net::Task& task, const Verdict& verdict) {
  const bool wanted = is_bound() && offers_http(*seen_.hello) && !all_rules(verdict, is_exempt);
  const bool opens = verdict.answer == Answer::needs_opening || wanted;
  const Status named = check_server_name(verdict, opens ? Intent::to_open : Intent::to_pass);
  if (!named.ok()) return refuse(task, Status(named).error());
  if (opens) return inspect_tls(task);
  if (verdict.answer == Answer::allow) return pass_through(task, verdict);
  return refuse(task,
                Error(Code::permission_denied, "the rules cannot tell whether it is allowed"));
}

Status Connection::check_server_name(const Verdict& verdict, Intent intent) const {
  const tls::ClientHello& hello = *seen_.hello;
  const auto* wanted = std::get_if<HostName>(&parts_.target.host);
  if (hello.server_name) {
    const HostName name = PD_TRY_CTX("TLS server name", HostName::parse(*hello.server_name));
    if (wanted != nullptr && name != *wanted) {
      return Error(
          Code::permission_denied,
          fmt::format("TLS asks for {}, the connection was made to {}", name.str(), wanted->str()));
    }
    if (auto refusal = rules_.policy->refusal_of(Host(name), parts_.target.port)) {
      return Error(Code::permission_denied,
                   fmt::format("TLS asks for {}: {}", name.str(), refusal->reason));
    }
  }
  const bool opaque = hello.encrypted_hello || (wanted != nullptr && !hello.server_name);
  if (!opaque || intent == Intent::to_open || all_rules(verdict, accepts_opaque_tls)) return {};
  return Error(Code::permission_denied,
               hello.encrypted_hello ? "TLS names its host encrypted" : "TLS names no host")
      .set_remedy("set opaque_tls = true in the rule to allow it");
}

Status Connection::connect(net::Task& task) {
  if (upstream_ != nullptr) return {};
  Upstream dialled = PD_TRY(parts_.core.dialler.dial(task, parts_.target, *rules_.policy));
  event_.address = dialled.address.str();
  upstream_ = std::move(dialled.stream);
  recheck();  // the rules may have changed while it was dialled
  if (!aborted_.empty()) return Error(Code::unavailable, aborted_);
  return {};
}

net::Taps Connection::taps(Metering& metering) {
  struct Scan {
    std::optional<Scanner> scanner;
    std::string passed;
  };
  auto scan = std::make_shared<Scan>();
  const auto credentials = rules_.credentials;
  if (credentials != nullptr && seen_.wire != Wire::tls) {
    scan->scanner.emplace(credentials->placeholders(), OnFound::stop);
  }
  net::Tap forth = [this, scan, credentials,
                    &metering](std::string_view bytes) -> Result<std::string_view> {
    event_.request_bytes += bytes.size();
    PD_TRY(metering.add_request(bytes.size()));
    if (prefix_passed_) PD_TRY(watch_unclear(bytes));
    if (!scan->scanner) return bytes;
    scan->passed.clear();
    if (const auto found = scan->scanner->feed(bytes, scan->passed)) {
      return credentials->stray(*found);
    }
    if (bytes.empty()) scan->scanner->finish(scan->passed);
    return std::string_view(scan->passed);
  };
  net::Tap back = [this, &metering](std::string_view bytes) -> Result<std::string_view> {
    event_.response_bytes += bytes.size();
    PD_TRY(metering.add_response(bytes.size()));
    return bytes;
  };
  return {.a_to_b = std::move(forth), .b_to_a = std::move(back)};
}

// Nobody needs to see the bytes: TLS, or no placeholder to look for and nothing unclear.
bool Connection::passes_unseen() const {
  return seen_.wire == Wire::tls || (rules_.credentials == nullptr && unclear_.empty());
}

net::Meters Connection::meters(Metering& metering) {
  return {.a_to_b =
              [this, &metering](uint64_t bytes) {
                event_.request_bytes += bytes;
                return metering.add_request(bytes);
              },
          .b_to_a =
              [this, &metering](uint64_t bytes) {
                event_.response_bytes += bytes;
                return metering.add_response(bytes);
              }};
}

Status Connection::pass_through(net::Task& task, const Verdict& verdict) {
  note_verdict(event_, verdict);
  passes_ = true;
  if (seen_.wire == Wire::nothing_yet) seen_.wire = Wire::silent;  // the host spoke first
  auto metering = parts_.sandbox->meter(rules_.policy, verdict);
  if (!metering.ok()) return refuse(task, metering.error());
  PD_TRY(connect(task));
  net::Taps both = taps(*metering);
  if (!prefix_.empty()) {
    const std::string prefix = std::exchange(prefix_, {});
    const std::string_view passed = PD_TRY(both.a_to_b(prefix));
    PD_TRY(upstream_->write(task, passed));
  }
  prefix_passed_ = true;
  if (passes_unseen()) return net::splice_both_ways(task, client_, *upstream_, meters(*metering));
  return net::pump_both_ways(task, client_, *upstream_, std::move(both));
}

Inspected Connection::inspected(http::Scheme scheme, std::string_view protocol) const {
  return {.sandbox = parts_.sandbox,
          .target = parts_.target,
          .asker = parts_.asker,
          .scheme = scheme,
          .protocol = protocol,
          .seen = seen_,
          .address = event_.address,
          .sink = parts_.core.sink,
          .pushes = &parts_.core.pushes};
}

Status Connection::inspect_plain(net::Task& task) {
  reports_ = false;
  Inspected what = inspected(http::Scheme::http, "http");
  Guard guard(what);
  if (first_.http2) {
    if (const Status connected = connect(task); !connected.ok()) {
      return refuse(task, Status(connected).error());
    }
    what.protocol = "h2";
    what.address = event_.address;
    return http::serve_http2(task, {.client = client_,
                                    .client_prefix = std::exchange(prefix_, {}),
                                    .upstream = *upstream_,
                                    .scheme = http::Scheme::http,
                                    .guard = guard});
  }
  const auto dial = [&](net::Task& dialling) -> Result<net::Stream*> {
    PD_TRY(connect(dialling));
    what.address = event_.address;
    return static_cast<net::Stream*>(upstream_.get());
  };
  return http::serve_http1(task, {.client = client_,
                                  .client_prefix = std::exchange(prefix_, {}),
                                  .scheme = http::Scheme::http,
                                  .upstream = dial,
                                  .guard = guard});
}

Status Connection::inspect_tls(net::Task& task) {
  seen_.opening = Opening::done;
  if (const Status connected = connect(task); !connected.ok()) {
    return refuse(task, Status(connected).error());
  }
  net::PrefixedStream client(std::make_unique<net::BorrowedStream>(client_),
                             std::exchange(prefix_, {}));
  OpenedTls opened = PD_TRY(open_tls(
      task, parts_.core,
      {.client = client, .upstream = *upstream_, .target = parts_.target, .hello = *seen_.hello}));
  reports_ = opened.upstream == nullptr;
  const bool second = opened.protocol == "h2";
  const Inspected what = inspected(http::Scheme::https, second ? "h2" : "https");
  Guard guard(what);
  if (second) {
    return http::serve_http2(task, {.client = *opened.client,
                                    .client_prefix = {},
                                    .upstream = *opened.upstream,
                                    .scheme = http::Scheme::https,
                                    .guard = guard});
  }
  FailingGuard failing(opened.upstream_error);
  http::RequestGuard& chosen =
      opened.upstream != nullptr ? static_cast<http::RequestGuard&>(guard) : failing;
  const auto upstream = [&](net::Task&) -> Result<net::Stream*> { return opened.upstream.get(); };
  const Status status = http::serve_http1(task, {.client = *opened.client,
                                                 .client_prefix = {},
                                                 .scheme = http::Scheme::https,
                                                 .upstream = upstream,
                                                 .guard = chosen});
  if (opened.upstream == nullptr) note_error(event_, opened.upstream_error);
  if (status.ok()) (void)opened.client->end_writing(task);
  return status;
}

Status Connection::inspect_ssh(net::Task& task) {
  seen_.opening = Opening::done;
  net::PrefixedStream client(std::make_unique<net::BorrowedStream>(client_),
                             std::exchange(prefix_, {}));
  Inspected what = inspected(http::Scheme::https, "ssh");
  const auto dial = [&](net::Task& dialling) -> Result<net::Stream*> {
    PD_TRY(connect(dialling));
    what.address = event_.address;
    return static_cast<net::Stream*>(upstream_.get());
  };
  const Status status = serve_git_over_ssh(
      task, {.core = parts_.core, .client = client, .what = what, .upstream = dial});
  reports_ = !status.ok();
  return status;
}

Status Connection::refuse(net::Task& task, const Verdict& verdict) {
  note_verdict(event_, verdict);
  return tell_refusal(task);
}

Status Connection::refuse(net::Task& task, const Error& error) {
  note_error(event_, error);
  return tell_refusal(task);
}

// In TLS by an alert, which the program reads before the end; else by a reset.
Status Connection::tell_refusal(net::Task& task) {
  reports_ = true;
  if (seen_.wire != Wire::tls) return Error(Code::permission_denied, event_.reason);
  const bool denied = event_.verdict == model::EgressVerdict::denied;
  PD_TRY(client_.write(task, alert_record(denied ? Alert::access_denied : Alert::internal_error)));
  PD_TRY(client_.end_writing(task));
  net::Deadline deadline(parts_.loop, kAlertRead, [this] { client_.abort(); });
  std::array<char, 1024> buffer;
  while (true) {
    const auto count = client_.read(task, buffer);
    if (!count.ok() || *count == 0) return {};
  }
}

}  // namespace paddock::egress
