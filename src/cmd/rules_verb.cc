// allow and deny: hosts for a sandbox that runs, here or in the daemon.
#include <fmt/core.h>

#include <boost/json.hpp>

#include "base/strings.h"
#include "cmd/client/daemon_client.h"
#include "cmd/console.h"
#include "cmd/verbs.h"
#include "engine/control_socket.h"
#include "engine/running.h"

namespace paddock::cmd {
namespace {

// One of the daemon's.
Result<std::string> change_served(const model::HostPath& home, const std::string& id,
                                  const RulesArgs& args) {
  const std::string verb(name_of(engine::kChangeVerbNames, args.verb));
  const std::string target =
      fmt::format("/paddock/v1/sandboxes/{}/rules/{}", id, url_encode(args.host));
  boost::json::object body;
  body["verb"] = verb;
  (void)PD_TRY(call_daemon(home, "PUT", target, body));
  return fmt::format("{} is {}", printable(args.host),
                     args.verb == engine::ChangeVerb::allow ? "allowed" : "denied");
}

Result<std::string> change(const RulesArgs& args, Context& context) {
  const model::HostPath home = PD_TRY(context.home());
  store::Database* database = PD_TRY(context.database());
  const auto running = PD_TRY(engine::find_running(home, *database, args.sandbox));
  auto answer = engine::has_control(running.directory)
                    ? engine::ask_control(running.directory, {args.verb, args.host})
                    : change_served(home, running.id.str(), args);
  return std::move(answer).with_context(
      fmt::format("changing the rules of sandbox {}", running.id.str()));
}

}  // namespace

int change_rules(const RulesArgs& args, Context& context) {
  auto done = change(args, context);
  if (!done.ok()) return fail(done.error());
  print(*done + "\n");
  return 0;
}

}  // namespace paddock::cmd
