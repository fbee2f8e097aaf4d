// Decides on the requests of one inspected connection: rules, credentials, budgets, record.
#pragma once

#include <memory>

#include "egress/gate/reporter.h"
#include "egress/gate/sandbox.h"
#include "egress/http/request_guard.h"
#include "egress/http/request_head.h"

namespace paddock::egress {

// What an inspected connection is. Outlives the guard and what it admits.
struct Inspected {
  std::shared_ptr<Sandbox> sandbox;
  Target target;
  Asker asker;
  http::Scheme scheme = http::Scheme::http;
  std::string_view protocol;  // "http", "https", "h2" for the record
  Seen seen;                  // without a request; the hello it points to lives as long
  std::string address;        // that was dialled; empty until then
  EventSink sink;
};

class Guard : public http::RequestGuard {
 public:
  explicit Guard(const Inspected& connection) : connection_(connection) {}

  Answer decide(net::Task& task, http::Request& request, http::BodySource& body) override;
  void see_malformed(const Error& error) override;

 private:
  model::EgressEvent event_of(const http::Request& request) const;
  Answer refuse(model::EgressEvent event, const Error& error);
  Answer refuse(model::EgressEvent event, const Verdict& verdict);

  const Inspected& connection_;
};

}  // namespace paddock::egress
