#include "cmd/serve_identity.h"

#include <fmt/core.h>

#include <ctime>
#include <utility>

#include "cmd/console.h"
#include "net/host_addresses.h"
#include "service/audit_line.h"

namespace paddock::cmd {
namespace {

constexpr std::chrono::seconds kLookAgain{10};
constexpr time_t kSoon = 7 * 86'400;

bool is_any(const model::IpAddress& address) {
  return address.str() == "0.0.0.0" || address.str() == "::";
}

std::string day_of(time_t time) {
  return service::rfc3339(static_cast<int64_t>(time) * 1000);
}

Result<std::unique_ptr<net::ServerIdentity>> open_files(const service::ServerSettings& settings) {
  auto identity =
      PD_TRY(net::read_identity({settings.tls_cert, settings.tls_key}, ::time(nullptr)));
  if (!identity->is_good_for("3000-id." + settings.domain)) {
    say(
        fmt::format("{} is not for *.{}: clients will refuse ports of sandboxes by name (`domain` "
                    "in server.toml)",
                    settings.tls_cert, settings.domain));
  }
  if (identity->good_until() < ::time(nullptr) + kSoon) {
    say(fmt::format("{} ends on {}", settings.tls_cert, day_of(identity->good_until())));
  }
  return identity;
}

}  // namespace

net::LocalIdentityOptions local_identity_options(const service::ServerSettings& settings,
                                                 const model::HostPath& home) {
  return {(home / "tls" / settings.domain).str(), settings.domain, {}};
}

std::string authority_file(const service::ServerSettings& settings, const model::HostPath& home) {
  return local_identity_options(settings, home).directory + "/cert.pem";
}

Result<std::unique_ptr<net::ServerIdentity>> open_identity(const service::ServerSettings& settings,
                                                           const Endpoint& endpoint,
                                                           const model::HostPath& home) {
  if (!settings.has_tls()) return std::unique_ptr<net::ServerIdentity>();
  if (!settings.tls_cert.empty()) return open_files(settings);
  net::LocalIdentityOptions options = local_identity_options(settings, home);
  if (is_any(endpoint.address)) {
    for (const auto& address : net::HostAddresses().list()) options.addresses.push_back(address);
  } else {
    options.addresses.push_back(endpoint.address);
  }
  return net::make_local_identity(std::move(options), ::time(nullptr));
}

void keep_renewed(net::Task& task, net::ServerIdentity& identity, api::Telemetry& telemetry) {
  using Refreshed = net::ServerIdentity::Refreshed;
  telemetry.on_certificate(identity.good_until());
  std::string said;  // why the last time: what stays wrong is said once
  while (!net::loop_of(task).is_ending()) {
    task.sleep(kLookAgain);
    auto refreshed = identity.refresh(::time(nullptr));
    if (!refreshed.ok()) {
      const std::string why = refreshed.error().describe();
      if (why == said) continue;
      say(fmt::format("the certificate stays as it is: {}", why));
      telemetry.record("certificate_refused", {{"why", service::audit_text(why)}});
      said = why;
      continue;
    }
    if (*refreshed == Refreshed::as_before) continue;
    said.clear();
    const std::string until = day_of(identity.good_until());
    say(fmt::format("another certificate is shown, good until {}{}", until,
                    *refreshed == Refreshed::by_another_authority
                        ? "; clients must trust another authority now: `paddock tls ca`"
                        : ""));
    telemetry.record("certificate_renewed", {{"good_until", until}});
    telemetry.on_certificate(identity.good_until());
  }
}

}  // namespace paddock::cmd
