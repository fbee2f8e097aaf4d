// allow and deny: hosts for a sandbox that runs.
#include <fmt/core.h>

#include "cmd/console.h"
#include "cmd/verbs.h"
#include "engine/control_socket.h"
#include "engine/running.h"

namespace paddock::cmd {
namespace {

Result<std::string> change(const RulesArgs& args, Context& context) {
  const model::HostPath home = PD_TRY(context.home());
  store::Database* database = PD_TRY(context.database());
  const auto running = PD_TRY(engine::find_running(home, *database, args.sandbox));
  auto answer = engine::ask_control(running.directory, {args.verb, args.host});
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
