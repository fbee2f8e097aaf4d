// What the surfaces of one server are made of.
#pragma once

#include "api/doorkeeper.h"
#include "api/e2b/access.h"
#include "api/e2b/secrets.h"
#include "api/telemetry.h"
#include "engine/live/builds/template_builder.h"
#include "engine/live/sandboxes.h"
#include "service/settings.h"

namespace paddock::api {

// All of it outlives the loop that the handlers run on.
struct ServerParts {
  engine::Sandboxes& sandboxes;
  const e2b::AccessTokens& tokens;
  Doorkeeper& door;
  Telemetry& telemetry;
  const service::ServerSettings& settings;
  const e2b::SecretBook& secrets;
  engine::TemplateBuilder& builder;
};

}  // namespace paddock::api
