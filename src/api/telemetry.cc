#include "api/telemetry.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/strings.h"
#include "engine/live/sandboxes.h"
#include "sys/clock.h"

namespace paddock::api {
namespace {

using boost::json::object;
using service::audit_text;
using service::Metric;
using service::MetricKind;

constexpr Metric kSandboxes{"paddock_sandboxes", MetricKind::gauge, "Sandboxes by state."};
constexpr Metric kCreated{"paddock_sandboxes_created_total", MetricKind::counter,
                          "Sandboxes that were made."};
constexpr Metric kRefused{"paddock_sandboxes_refused_total", MetricKind::counter,
                          "Sandboxes that were asked for and not made, by code of the error."};
constexpr Metric kEnded{"paddock_sandboxes_ended_total", MetricKind::counter,
                        "Sandboxes that ended."};
constexpr Metric kCreateSeconds{"paddock_sandbox_create_seconds", MetricKind::histogram,
                                "From the request to a sandbox that runs commands."};
constexpr Metric kLifeSeconds{"paddock_sandbox_life_seconds", MetricKind::histogram,
                              "How long sandboxes lived."};
constexpr Metric kCommands{"paddock_commands_total", MetricKind::counter,
                           "Commands that clients started."};
constexpr Metric kCommandSeconds{"paddock_command_seconds", MetricKind::histogram,
                                 "How long commands ran."};
constexpr Metric kDenials{"paddock_denials_total", MetricKind::counter,
                          "What sandboxes were refused, by kind; equal ones of one sandbox once."};
constexpr Metric kGate{"paddock_gate_decisions_total", MetricKind::counter,
                       "Decisions of the egress gate, by kind and verdict."};
constexpr Metric kGateUntold{"paddock_gate_decisions_not_recorded_total", MetricKind::counter,
                             "Decisions of the egress gate that came too fast to be recorded."};
constexpr Metric kPoolAsked{"paddock_pool_asked_total", MetricKind::counter,
                            "Sandboxes asked for that a warm one could be, by whether one was."};
constexpr Metric kPoolReady{"paddock_pool_ready", MetricKind::gauge,
                            "Warm sandboxes that are ready, by template."};
constexpr Metric kPoolFailed{"paddock_pool_failed_total", MetricKind::counter,
                             "Warm sandboxes that could not be made, by template."};
constexpr Metric kRequests{"paddock_http_requests_total", MetricKind::counter,
                           "Requests by class of route and status."};
constexpr Metric kRequestSeconds{"paddock_http_request_seconds", MetricKind::histogram,
                                 "Requests by class of route, streams to their end."};
constexpr Metric kAuditRecords{"paddock_audit_records", MetricKind::gauge,
                               "Number of the audit log's last record."};
constexpr Metric kAuditLost{"paddock_audit_lost_total", MetricKind::counter,
                            "Records that could not be written."};
constexpr Metric kCertificateEnd{"paddock_tls_certificate_not_after_seconds", MetricKind::gauge,
                                 "When the server's certificate ends, since the epoch."};
constexpr Metric kFailedHandshakes{"paddock_tls_handshakes_failed_total", MetricKind::counter,
                                   "Handshakes that came to nothing."};
constexpr Metric kSyncFailures{"paddock_sync_failures_total", MetricKind::counter,
                               "Times that log and usage could not be brought to the disk."};

double seconds(int64_t us) {
  return static_cast<double>(us) / 1e6;
}

std::string name_of_key(const model::Owner& owner) {
  return owner.key.str();
}

void put_owner(object& out, const model::Owner& owner) {
  if (!owner.key.empty()) out["key"] = name_of_key(owner);
}

object fields_of(const RequestNote& note) {
  object out;
  out["route"] = note.route;
  out["method"] = audit_text(note.method);
  if (!note.path.empty()) out["path"] = audit_text(note.path);
  if (!note.sandbox.empty()) out["sandbox"] = audit_text(note.sandbox);
  if (note.caller) put_owner(out, note.caller->owner);
  if (note.caller && note.caller->sees == model::Caller::Sees::all) out["keeper"] = true;
  out["status"] = note.status;
  if (!note.failure.empty()) out["failure"] = audit_text(note.failure);
  return out;
}

object controls_of(const model::Decision& decision) {
  object out;
  for (const model::Control& control : decision.controls) {
    out[control.name] = name_of(model::kControlStateNames, control.state);
  }
  return out;
}

object limits_of(const model::Limits& limits) {
  object out;
  out["memory_bytes"] = limits.memory_bytes;
  out["disk_bytes"] = limits.disk_bytes;
  out["cpus"] = limits.cpus;
  return out;
}

}  // namespace

// ---- the log

Status Telemetry::ready() {
  if (lost_ == 0) return {};
  PD_TRY(log_.append("records_lost", {{"count", lost_}}));
  lost_ = 0;
  return {};
}

void Telemetry::record(std::string_view event, const object& fields) {
  if (ready().ok() && log_.append(event, fields).ok()) return;
  ++lost_;
  metrics_.add(kAuditLost, {});
}

void Telemetry::record_event(std::string_view event, const model::Owner& owner,
                             const object& fields) {
  record(event, fields);
  object out;
  out["seq"] = log_.head().seq;
  out["time"] = service::rfc3339(sys::wall_clock_ms());
  out["event"] = event;
  for (const auto& [name, value] : fields) out[name] = value;
  events_.push_back({log_.head().seq, std::string(fields.at("sandbox").as_string()), owner, out});
  if (events_.size() > kMaxEvents) events_.pop_front();
}

Status Telemetry::sync(net::Task& task) {
  auto job = log_.sync();
  auto used = std::exchange(unsaved_, {});
  if (!job && used.empty()) return {};
  const Status logged = job ? disk_.run(task, job) : Status();
  const Status saved = disk_.run(task, [&]() -> Status {
    if (used.empty()) return {};
    return service::UsageBook(database_).add(used, service::day_of(sys::wall_clock_ms()));
  });
  if (!saved.ok()) {
    for (const auto& [key, usage] : used) unsaved_[key].add(usage);
  }
  return logged.ok() ? saved : logged;
}

void Telemetry::keep_synced(net::Task& task) {
  while (!net::loop_of(task).is_ending()) {
    task.sleep(std::chrono::seconds(1));
    if (!sync(task).ok()) metrics_.add(kSyncFailures, {});
  }
}

Result<std::vector<service::UsageRow>> Telemetry::usage(net::Task& task, const std::string& since) {
  PD_TRY(sync(task));
  return disk_.run(task, [&] { return service::UsageBook(database_).list(since); });
}

// ---- requests

void Telemetry::on_stream(const RequestNote& note) {
  object fields = fields_of(note);
  fields["stream"] = "begins";
  record("request", fields);
}

void Telemetry::on_request(const RequestNote& note) {
  const int64_t took_us = sys::monotonic_us() - note.began_us;
  const std::string route(note.route);
  metrics_.add(kRequests, {{"route", route}, {"status", std::to_string(note.status)}});
  metrics_.observe(kRequestSeconds, {{"route", route}}, seconds(took_us));
  if (note.caller || !note.sandbox.empty()) {
    const model::Owner& owner = note.caller ? note.caller->owner : note.owner;
    unsaved_[name_of_key(owner)].add({0, 0, 0, note.received, note.sent});
  }
  object fields = fields_of(note);
  if (note.is_stream) fields["stream"] = "ends";
  fields["received"] = note.received;
  fields["sent"] = note.sent;
  fields["took_us"] = took_us;
  record("request", fields);
}

// ---- sandboxes

void Telemetry::on_created(const engine::LiveSandbox& sandbox, int64_t took_us) {
  metrics_.add(kCreated, {});
  metrics_.observe(kCreateSeconds, {}, seconds(took_us));
  const engine::LiveInfo& info = sandbox.info();
  const model::Decision& decision = sandbox.setup().decision;
  object fields;
  fields["sandbox"] = info.id.str();
  put_owner(fields, info.owner);
  fields["template"] = audit_text(info.template_name);
  fields["deadline"] = service::rfc3339(info.deadline_ms);
  fields["level"] = name_of(model::kLevelNames, decision.level);
  fields["trust"] = name_of(model::kTrustNames, decision.trust);
  if (decision.accepted_by) fields["accepted_by"] = audit_text(*decision.accepted_by);
  fields["limits"] = limits_of(sandbox.setup().limits);
  fields["controls"] = controls_of(decision);
  if (const auto& workspace = sandbox.workspace()) {
    fields["workspace"] = audit_text(workspace->directory.str());
  }
  fields["took_us"] = took_us;
  record_event("sandbox_created", info.owner, fields);
}

void Telemetry::on_refused(const engine::CreateRequest& request, const Error& why) {
  metrics_.add(kRefused, {{"code", std::string(to_string(why.code()))}});
  object fields;
  put_owner(fields, request.owner);
  fields["template"] = audit_text(request.template_name);
  fields["code"] = to_string(why.code());
  fields["why"] = audit_text(why.describe());
  record("sandbox_refused", fields);
}

void Telemetry::on_ended(const engine::LiveInfo& info, const model::Usage& usage) {
  const int64_t life_ms = sys::wall_clock_ms() - info.created_ms;
  metrics_.add(kEnded, {});
  metrics_.observe(kLifeSeconds, {}, static_cast<double>(life_ms) / 1e3);
  service::KeyUsage& used = unsaved_[name_of_key(info.owner)];
  used.add({1, static_cast<uint64_t>(life_ms), usage.user_us + usage.system_us, 0, 0});
  object fields;
  fields["sandbox"] = info.id.str();
  put_owner(fields, info.owner);
  fields["reason"] = audit_text(info.reason);
  fields["life_ms"] = life_ms;
  fields["cpu_us"] = usage.user_us + usage.system_us;
  fields["peak_memory_bytes"] = usage.peak_memory_bytes;
  record_event("sandbox_ended", info.owner, fields);
}

void Telemetry::on_command_started(const engine::LiveInfo&) {
  metrics_.add(kCommands, {});
}

void Telemetry::on_command_ended(const engine::LiveInfo&, int64_t took_us) {
  metrics_.observe(kCommandSeconds, {}, seconds(took_us));
}

void Telemetry::on_denied(const engine::LiveInfo& info, const model::Denial& denial) {
  metrics_.add(kDenials, {{"kind", std::string(name_of(model::kDenialKindNames, denial.kind))}});
  object fields;
  fields["sandbox"] = info.id.str();
  put_owner(fields, info.owner);
  fields["kind"] = name_of(model::kDenialKindNames, denial.kind);
  fields["what"] = audit_text(denial.what);
  fields["rule"] = audit_text(denial.rule);
  fields["process"] = audit_text(denial.process);
  record_event("denied", info.owner, fields);
}

void Telemetry::on_egress(const engine::LiveInfo& info, const model::EgressEvent& event) {
  const std::string kind(name_of(model::kEgressEventKindNames, event.kind));
  const std::string verdict(name_of(model::kEgressVerdictNames, event.verdict));
  metrics_.add(kGate, {{"kind", kind}, {"verdict", verdict}});
  object fields;
  fields["sandbox"] = info.id.str();
  put_owner(fields, info.owner);
  fields["kind"] = kind;
  fields["verdict"] = verdict;
  fields["host"] = audit_text(event.host);
  fields["port"] = event.port;
  fields["rule"] = audit_text(event.rule);
  if (!event.reason.empty()) fields["reason"] = audit_text(event.reason);
  if (!event.method.empty()) fields["method"] = audit_text(event.method);
  record_event("egress", info.owner, fields);
}

void Telemetry::on_more_egress(const engine::LiveInfo& info, uint64_t count) {
  metrics_.add(kGateUntold, {}, static_cast<double>(count));
  object fields;
  fields["sandbox"] = info.id.str();
  put_owner(fields, info.owner);
  fields["count"] = count;
  record_event("egress_not_recorded", info.owner, fields);
}

void Telemetry::on_pool_asked(const std::string& template_name, Pool answer) {
  metrics_.add(kPoolAsked,
               {{"template", template_name}, {"answer", answer == Pool::hit ? "hit" : "miss"}});
}

void Telemetry::on_pool_size(const std::string& template_name, size_t ready) {
  metrics_.set(kPoolReady, {{"template", template_name}}, static_cast<double>(ready));
}

void Telemetry::on_pool_failed(const std::string& template_name, const Error& why) {
  metrics_.add(kPoolFailed, {{"template", template_name}});
  record("pool_not_filled", {{"template", template_name}, {"reason", audit_text(why.describe())}});
}

void Telemetry::on_certificate(time_t good_until) {
  metrics_.set(kCertificateEnd, {}, static_cast<double>(good_until));
  metrics_.add(kFailedHandshakes, {}, 0);
}

void Telemetry::on_failed_handshake() {
  metrics_.add(kFailedHandshakes, {});
}

std::string Telemetry::metrics_text(const std::map<std::string, size_t>& states) {
  for (const auto& [state, count] : states) {
    metrics_.set(kSandboxes, {{"state", state}}, static_cast<double>(count));
  }
  metrics_.set(kAuditRecords, {}, static_cast<double>(log_.head().seq));
  metrics_.add(kAuditLost, {}, 0);
  for (const Metric& metric : {kCreated, kEnded, kCommands, kSyncFailures})
    metrics_.add(metric, {}, 0);
  return metrics_.text();
}

}  // namespace paddock::api
