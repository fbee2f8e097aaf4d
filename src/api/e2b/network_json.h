// `network` and `allow_internet_access` of a request as what the engine narrows policy by. Pure.
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <string>

#include "base/result.h"
#include "egress/credentials/secret.h"
#include "engine/live/live_sandbox.h"

namespace paddock::api::e2b {

// The secret that "${e2b.secrets.NAME}" stands for. not_found: there is none of that name.
using SecretLookup = std::function<Result<egress::Secret>(const std::string& name)>;

// Of the body of create: `network` and `allow_internet_access`. invalid_argument names the field.
// unsupported: a proxy, ports of TLS, workload identities.
Result<engine::NetworkRequest> network_of_create(const boost::json::object& body,
                                                 const SecretLookup& secrets);
// Of the body of an update, which replaces what leaves and nothing of how ports are reached.
Result<engine::NetworkRequest> network_of_update(const boost::json::object& body,
                                                 const engine::NetworkRequest& before,
                                                 const SecretLookup& secrets);

// The same with a host allowed or denied, within what policy lets out; kept by updates.
// resource_exhausted: too many were.
Result<engine::NetworkRequest> network_with_word(engine::NetworkRequest before,
                                                 const engine::ChangeRequest& said);

// Once more, from what an answer shows of it.
Result<engine::NetworkRequest> network_of_record(const engine::NetworkRequest& recorded,
                                                 const SecretLookup& secrets);

// `network` and `allowInternetAccess` as they were asked for (no secret in them), and in `egress`
// what policy lets out and what was refused so far.
void add_network(boost::json::object& detail, const engine::LiveSandbox& sandbox);

}  // namespace paddock::api::e2b
