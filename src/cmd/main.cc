// paddock: wires the parts and dispatches to one verb.
#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include "cmd/cli.h"
#include "cmd/console.h"
#include "cmd/verbs.h"
#include "sys/fd.h"

namespace paddock::cmd {

namespace {

int dispatch(const RunArgs& args, Context& context) {
  return run(args, context);
}
int dispatch(const AttachArgs& args, Context& context) {
  return attach(args, context);
}
int dispatch(const LsArgs& args, Context& context) {
  return ls(args, context);
}
int dispatch(const ShowArgs& args, Context& context) {
  return show(args, context);
}
int dispatch(const DiffArgs& args, Context& context) {
  return diff(args, context);
}
int dispatch(const ApplyArgs& args, Context& context) {
  return apply(args, context);
}
int dispatch(const DiscardArgs& args, Context& context) {
  return discard(args, context);
}
int dispatch(const RollbackArgs& args, Context& context) {
  return rollback(args, context);
}
int dispatch(const GcArgs& args, Context& context) {
  return gc(args, context);
}
int dispatch(const InitArgs& args, Context& context) {
  return init(args, context);
}
int dispatch(const ExplainArgs& args, Context& context) {
  return explain(args, context);
}
int dispatch(const DoctorArgs& args, Context& context) {
  return doctor(args, context);
}

int dispatch(const SecretArgs& args, Context& context) {
  return secret(args, context);
}

int dispatch(const PushesArgs& args, Context& context) {
  return pushes(args, context);
}

int dispatch(const RulesArgs& args, Context& context) {
  return change_rules(args, context);
}

int dispatch(const ServeArgs& args, Context& context) {
  return serve(args, context);
}

int dispatch(const TlsArgs& args, Context& context) {
  return tls(args, context);
}

int dispatch(const KeyArgs& args, Context& context) {
  return key(args, context);
}

int dispatch(const AuditArgs& args, Context& context) {
  return audit(args, context);
}

int dispatch(const CreateArgs& args, Context& context) {
  return create(args, context);
}

int dispatch(const ExecArgs& args, Context& context) {
  return exec(args, context);
}

int dispatch(const CpArgs& args, Context& context) {
  return cp(args, context);
}

int dispatch(const SandboxArgs& args, Context& context) {
  return sandbox(args, context);
}

int dispatch(const LifeArgs& args, Context& context) {
  return change_life(args, context);
}

int dispatch(const TemplateArgs& args, Context& context) {
  return templates(args, context);
}

int main_of(int argc, char** argv) {
  auto parsed = parse_command_line(argc, argv);
  if (auto* exit = std::get_if<Exit>(&parsed)) {
    print(exit->out);
    if (!exit->err.empty()) fmt::print(stderr, "{}", exit->err);
    return exit->status;
  }
  const Invocation& invocation = std::get<Invocation>(parsed);
  auto caller = read_caller(environ);
  if (!caller.ok()) return fail(caller.error());
  Context context(std::move(caller).value());
  return std::visit([&](const auto& args) { return dispatch(args, context); }, invocation);
}

}  // namespace
}  // namespace paddock::cmd

int main(int argc, char** argv) {
  // A reader that leaves is an error of a write, never the end of us.
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a file at its limit likewise
  paddock::sys::allow_most_descriptors();
  return paddock::cmd::main_of(argc, argv);
}
