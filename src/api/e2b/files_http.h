// GET and POST /files of envd: bytes of files, in flat memory.
#pragma once

#include <map>
#include <string>

#include "api/e2b/rpc.h"

namespace paddock::api::e2b {

using Query = std::map<std::string, std::string>;
// Empty when it is not there.
std::string value_of(const Query& query, const std::string& name);

Status download(const Call& call, const Query& query);
Status upload(const Call& call, const Query& query);

// {"code":…,"message":…} with that status.
Status respond_http_error(net::Task& task, net::http::Exchange& exchange, int status,
                          const std::string& message);
int files_status(const Error& error);

// The x-metadata-* headers as "key=value", keys in lower case. invalid_argument: not printable, or
// too long.
Result<std::vector<std::string>> metadata_of(const net::http::Headers& headers);

}  // namespace paddock::api::e2b
