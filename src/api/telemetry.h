// What the server keeps about itself: numbers for /metrics, records for the audit log.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/noted_exchange.h"
#include "engine/live/live_sandbox.h"
#include "engine/live/observer.h"
#include "model/egress_event.h"
#include "net/worker.h"
#include "service/audit_log.h"
#include "service/metrics.h"
#include "service/usage.h"
#include "store/database.h"

namespace paddock::api {

// Used on the loop's thread; it must outlive the loop. When a record cannot be written (the disk is
// full), ready() says so until it can, and nothing is served meanwhile.
class Telemetry : public engine::Observer {
 public:
  // `database` is from now on used by a thread of this object alone.
  Telemetry(service::AuditLog log, store::Database database)
      : log_(std::move(log)), database_(std::move(database)) {}

  // Before each request that may change something.
  Status ready();
  void on_stream(const RequestNote& note);
  void on_request(const RequestNote& note);
  // Anything else of the server's own life; see AuditLog::append().
  void record(std::string_view event, const boost::json::object& fields);

  void on_created(const engine::LiveSandbox& sandbox, int64_t took_us) override;
  void on_refused(const engine::CreateRequest& request, const Error& why) override;
  void on_ended(const engine::LiveInfo& info, const model::Usage& usage) override;
  void on_command_started(const engine::LiveInfo& info) override;
  void on_command_ended(const engine::LiveInfo& info, int64_t took_us) override;
  void on_denied(const engine::LiveInfo& info, const model::Denial& denial) override;
  void on_egress(const engine::LiveInfo& info, const model::EgressEvent& event) override;
  void on_more_egress(const engine::LiveInfo& info, uint64_t count) override;
  void on_pool_asked(const std::string& template_name, Pool answer) override;
  void on_pool_size(const std::string& template_name, size_t ready) override;
  void on_pool_failed(const std::string& template_name, const Error& why) override;

  // What became of sandboxes, oldest first: the newest kMaxEvents, since the server started.
  struct Event {
    uint64_t seq;  // of its record
    std::string sandbox;
    model::Owner owner;
    boost::json::object fields;  // of its record
  };
  static constexpr size_t kMaxEvents = 4096;
  const std::deque<Event>& events() const { return events_; }

  // Of the listener's TLS: when its certificate ends, and a handshake that came to nothing.
  void on_certificate(time_t good_until);
  void on_failed_handshake();

  // In Prometheus' form; `states` counts sandboxes by the name of their state.
  std::string metrics_text(const std::map<std::string, size_t>& states);

  // Brings log and usage to the disk, about once a second, until the loop ends.
  void keep_synced(net::Task& task);
  Status sync(net::Task& task);
  // What each key used, with what is not on the disk yet; sandboxes that live are not in it.
  Result<std::vector<service::UsageRow>> usage(net::Task& task, const std::string& since);

 private:
  void record_event(std::string_view event, const model::Owner& owner,
                    const boost::json::object& fields);

  service::Metrics metrics_;
  service::AuditLog log_;
  std::deque<Event> events_;
  uint64_t lost_ = 0;                                 // records that could not be written
  std::map<std::string, service::KeyUsage> unsaved_;  // by id of the key
  store::Database database_;
  net::Worker disk_;
};

}  // namespace paddock::api
