// Our own surface, /paddock/v1: sandboxes, commands with their outcomes, decisions, what happened.
#pragma once

#include "api/noted_exchange.h"
#include "api/server_parts.h"

namespace paddock::api::own {

// Whether it is a path of this surface.
bool is_own_path(std::string_view path);
Status serve(net::Task& task, NotedExchange& exchange, const ServerParts& parts,
             const model::Caller& caller);
// For a caller whom we do not know.
Status refuse(net::Task& task, NotedExchange& exchange);
Status answer_error(net::Task& task, NotedExchange& exchange, int status, const Error& error);

// Pure; every route is in it.
boost::json::object openapi_document();

}  // namespace paddock::api::own
