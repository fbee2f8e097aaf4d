// Decides on the requests of one inspected connection: rules, credentials, budgets, record.
#pragma once

#include <memory>

#include "egress/gate/reporter.h"
#include "egress/gate/sandbox.h"
#include "egress/git/operation.h"
#include "egress/http/request_guard.h"
#include "egress/http/request_head.h"
#include "egress/pushes/push_store.h"

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
  const PushStore* pushes = nullptr;  // nullptr: none can be held
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

  // A push that was judged.
  struct Push {
    const Verdict& verdict;
    const GitOperation& operation;
    const git::PushRequest& request;
  };
  Answer refuse_push(net::Task& task, Answer answer, const git::PushRequest& push,
                     http::BodySource& body);
  Answer hold(net::Task& task, model::EgressEvent event, const Push& what,
              const http::Request& request, http::BodySource& body);
  Result<HeldPush> keep(net::Task& task, const model::EgressEvent& event, const Push& what,
                        const http::Request& request, http::BodySource& body);

  const Inspected& connection_;
};

}  // namespace paddock::egress
