// One request of our own surface on its way to an answer.
#pragma once

#include <boost/json.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/noted_exchange.h"
#include "api/server_parts.h"

namespace paddock::api::own {

struct Request {
  net::Task& task;
  NotedExchange& exchange;
  const ServerParts& parts;
  const model::Caller& caller;
  std::vector<std::string> names;  // what stands for {…} in the route

  // The first of that name in the query; "" when there is none.
  std::string query(std::string_view name) const;
};

// Of a body that is a JSON object with no other fields than these. invalid_argument names one.
Result<boost::json::object> read_object(const Request& request,
                                        const std::vector<std::string_view>& fields);

Status answer(const Request& request, int status, const boost::json::value& body);
Status answer_nothing(const Request& request);
// {"error":{"code":…,"message":…,"remedy":…}}
Status answer_error(const Request& request, const Error& error);

// The sandbox that the route names. not_found: none that the caller may see.
Result<std::shared_ptr<engine::LiveSandbox>> sandbox_of(const Request& request);
// The same for what only a running one does. One that stands still is woken where it was made so;
// else failed_precondition.
Result<std::shared_ptr<engine::LiveSandbox>> awake_sandbox_of(const Request& request);

// permission_denied, where it is not whoever runs the server, on this machine. `what`: why only he.
Status check_keeper(const Request& request, const std::string& what);

// From the fields of a sandbox that is to be made.
Result<engine::CreateRequest> create_request(const Request& request,
                                             const boost::json::object& body);

// What goes into several answers.
boost::json::object json_of(const engine::LiveSandbox& sandbox);
boost::json::value key_json(const std::string& key);
boost::json::object error_json(const Error& error);
boost::json::object snapshot_json(const engine::Snapshot& snapshot);
// By id or name. not_found: none that the caller may see.
Result<engine::Snapshot> snapshot_of(const Request& request, const std::string& named);
// Seconds of `timeout_s`, within what the server gives.
Result<int64_t> timeout_of(const Request& request, const boost::json::object& body,
                           int64_t otherwise);

// ---- handlers; each answers

Status list_sandboxes(const Request& request);
Status create_sandbox(const Request& request);
Status show_sandbox(const Request& request);
Status kill_sandbox(const Request& request);
Status set_timeout(const Request& request);
Status show_decision(const Request& request);
Status list_denials(const Request& request);
Status change_rule(const Request& request);
Status pause_sandbox(const Request& request);
Status resume_sandbox(const Request& request);
Status restart_sandbox(const Request& request);
Status roll_back_sandbox(const Request& request);
Status snapshot_sandbox(const Request& request);
Status fork_sandbox(const Request& request);
Status list_templates(const Request& request);
Status add_template(const Request& request);
Status remove_template(const Request& request);
Status list_events(const Request& request);
Status show_usage(const Request& request);

Status exec(const Request& request);
Status list_processes(const Request& request);
Status send_input(const Request& request);
Status send_signal(const Request& request);
Status resize(const Request& request);

Status read_file(const Request& request);
Status write_file(const Request& request);

Status show_document(const Request& request);

Status create_run(const Request& request);
Status list_runs(const Request& request);
Status show_run(const Request& request);
Status follow_run(const Request& request);

Status list_views(const Request& request);
Status show_view(const Request& request);
Status show_changes(const Request& request);
Status show_patch(const Request& request);
Status apply_view(const Request& request);
Status roll_back_view(const Request& request);
Status discard_view(const Request& request);

}  // namespace paddock::api::own
