// What envd answers on its port of one sandbox.
#pragma once

#include <string>

#include "api/e2b/access.h"
#include "api/e2b/files_http.h"
#include "api/e2b/rpc.h"

namespace paddock::api::e2b {

// Checks the access token, or the signature of a URL, and the user; then serves.
Status serve_envd(const Call& call, const AccessTokens& tokens);

// Whether the request's signature is one by `token`, and has not expired.
enum class Signed { no, yes, expired };
Signed check_signature(const net::http::RequestHead& request, const Query& query,
                       const std::string& token);
Query query_of(const net::http::RequestHead& request);

}  // namespace paddock::api::e2b
