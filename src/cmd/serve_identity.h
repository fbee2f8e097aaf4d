// What `serve` shows to its TLS clients, and what they are told to trust.
#pragma once

#include <memory>
#include <string>

#include "api/telemetry.h"
#include "cmd/serve_settings.h"
#include "model/paths.h"
#include "net/server_identity.h"

namespace paddock::cmd {

// Of the local authority for the settings' domain, below `home`.
net::LocalIdentityOptions local_identity_options(const service::ServerSettings& settings,
                                                 const model::HostPath& home);
// The file with its certificate.
std::string authority_file(const service::ServerSettings& settings, const model::HostPath& home);

// nullptr: the server speaks plain HTTP.
Result<std::unique_ptr<net::ServerIdentity>> open_identity(const service::ServerSettings& settings,
                                                           const Endpoint& endpoint,
                                                           const model::HostPath& home);

// Renews it when it is time, and says so, until the loop ends.
void keep_renewed(net::Task& task, net::ServerIdentity& identity, api::Telemetry& telemetry);

}  // namespace paddock::cmd
