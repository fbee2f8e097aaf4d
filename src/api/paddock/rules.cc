// Hosts that are allowed or denied while a sandbox runs.
#include <boost/json.hpp>
#include <utility>

#include "api/e2b/json.h"
#include "api/e2b/network_json.h"
#include "api/paddock/request.h"
#include "base/strings.h"

namespace paddock::api::own {
namespace {

using boost::json::object;
using engine::ChangeRequest;
using engine::ChangeVerb;

Result<ChangeRequest> change_of(const Request& request) {
  const object body = PD_TRY(read_object(request, {"verb"}));
  const std::string verb = PD_TRY(e2b::text_field(body, "verb")).value_or("");
  const auto known = value_of(engine::kChangeVerbNames, verb);
  if (known) return ChangeRequest{*known, request.names.back()};
  return Error(Code::invalid_argument, "'verb' is \"allow\" or \"deny\"");
}

Status set(const Request& request, engine::LiveSandbox& sandbox, const ChangeRequest& change) {
  // What is said at the same time is said one by one: nothing is lost.
  const auto turn = sandbox.changes().enter(request.task);
  auto wanted = PD_TRY(e2b::network_with_word(sandbox.network(), change));
  wanted.must_reach = change.verb == ChangeVerb::allow ? change.host : "";
  return request.parts.sandboxes.set_network(request.task, sandbox, std::move(wanted));
}

}  // namespace

Status change_rule(const Request& request) {
  auto sandbox = sandbox_of(request);
  if (!sandbox.ok()) return answer_error(request, sandbox.error());
  auto change = change_of(request);
  if (!change.ok()) return answer_error(request, change.error());
  const Status done = set(request, **sandbox, *change);
  if (!done.ok()) return answer_error(request, done.error());
  return answer(request, 200,
                object{{"host", change->host},
                       {"verb", std::string(name_of(engine::kChangeVerbNames, change->verb))}});
}

}  // namespace paddock::api::own
