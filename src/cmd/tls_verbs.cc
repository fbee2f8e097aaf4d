// tls ca: what clients of `serve --tls` are to trust.
#include <fmt/core.h>

#include <boost/json.hpp>
#include <ctime>

#include "cmd/console.h"
#include "cmd/serve_identity.h"
#include "cmd/serve_settings.h"
#include "cmd/verbs.h"
#include "model/json.h"

namespace paddock::cmd {
namespace {

// Made when it is not there, so that clients can be set up before the server first runs.
Status show_authority(const TlsArgs& args, Context& context) {
  const service::ServerSettings settings = PD_TRY(read_server_settings({}, context)).settings;
  if (!settings.tls_cert.empty()) {
    return Error(Code::failed_precondition, "server.toml names a certificate of your own, " +
                                                settings.tls_cert + ": no local authority is used")
        .set_remedy("clients are to trust who issued it");
  }
  const model::HostPath home = PD_TRY(context.home());
  const std::string pem =
      PD_TRY(net::local_authority(local_identity_options(settings, home), ::time(nullptr)));
  const std::string file = authority_file(settings, home);
  if (args.json) {
    print(model::pretty_json(
        boost::json::object{{"domain", settings.domain}, {"file", file}, {"pem", pem}}));
  } else {
    print(args.pem ? pem : file + "\n");
  }
  return {};
}

}  // namespace

int tls(const TlsArgs& args, Context& context) {
  const Status shown = show_authority(args, context);
  return shown.ok() ? 0 : fail(shown.error());
}

}  // namespace paddock::cmd
