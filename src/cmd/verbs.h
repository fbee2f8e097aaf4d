// One function per verb. Each returns the exit status and says its own errors.
#pragma once

#include "cmd/context.h"
#include "cmd/invocation.h"

namespace paddock::cmd {

// Of `run` and `exec`, whose other statuses are the command's.
inline constexpr int kPaddockCouldNot = 125;

int run(const RunArgs& args, Context& context);
int run_detached(const RunArgs& args, Context& context);
int attach(const AttachArgs& args, Context& context);
int ls(const LsArgs& args, Context& context);
int show(const ShowArgs& args, Context& context);
int diff(const DiffArgs& args, Context& context);
int apply(const ApplyArgs& args, Context& context);
int discard(const DiscardArgs& args, Context& context);
int rollback(const RollbackArgs& args, Context& context);
int gc(const GcArgs& args, Context& context);
int init(const InitArgs& args, Context& context);
int explain(const ExplainArgs& args, Context& context);
int doctor(const DoctorArgs& args, Context& context);
int secret(const SecretArgs& args, Context& context);
int pushes(const PushesArgs& args, Context& context);
int change_rules(const RulesArgs& args, Context& context);
int serve(const ServeArgs& args, Context& context);
int tls(const TlsArgs& args, Context& context);
int key(const KeyArgs& args, Context& context);
int audit(const AuditArgs& args, Context& context);
int create(const CreateArgs& args, Context& context);
int exec(const ExecArgs& args, Context& context);
int cp(const CpArgs& args, Context& context);
int sandbox(const SandboxArgs& args, Context& context);
int change_life(const LifeArgs& args, Context& context);
int templates(const TemplateArgs& args, Context& context);

// Exit status of a verb that failed with `error`: 2 for wrong use, else 1.
int fail(const Error& error);

}  // namespace paddock::cmd
