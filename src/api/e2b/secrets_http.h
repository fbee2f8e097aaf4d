// /secrets of the control plane.
#pragma once

#include <string>
#include <vector>

#include "api/e2b/secrets.h"
#include "net/http/exchange.h"

namespace paddock::api::e2b {

struct SecretsOf {
  const SecretBook& book;
  const model::Caller& caller;
};

// `path` is decoded, its first segment "secrets".
Status serve_secrets(net::Task& task, net::http::Exchange& exchange,
                     const std::vector<std::string>& path, const SecretsOf& secrets);

}  // namespace paddock::api::e2b
