// The control plane: sandboxes made, listed, told about and ended.
#pragma once

#include <optional>
#include <string>

#include "api/e2b/secrets.h"
#include "api/server_parts.h"
#include "model/owner.h"
#include "net/http/exchange.h"
#include "net/task.h"

namespace paddock::api::e2b {

struct ControlOptions {
  engine::Sandboxes& sandboxes;
  const AccessTokens& tokens;
  const service::ServerSettings& settings;
  const SecretBook& secrets;
  engine::TemplateBuilder& builder;
  std::optional<model::Caller> caller;  // nullopt: one whom we do not know
};

// Answers every request, those for what is not built by 501 and what it would be.
Status serve_control(net::Task& task, net::http::Exchange& exchange, const ControlOptions& options);

}  // namespace paddock::api::e2b
