// key create, ls and revoke: who may use the daemon.
#include <fmt/core.h>

#include <boost/json.hpp>

#include "base/strings.h"
#include "cmd/console.h"
#include "cmd/verbs.h"
#include "model/json.h"
#include "service/audit_log.h"
#include "service/keys.h"

namespace paddock::cmd {
namespace {

using boost::json::object;
using service::ApiKey;

object json_of(const ApiKey& key) {
  object out;
  out["id"] = key.id.str();
  out["label"] = key.label;
  out["scope"] = name_of(service::kKeyScopeNames, key.scope);
  out["created_ms"] = key.created_ms;
  out["revoked_ms"] = key.revoked_ms == 0 ? boost::json::value() : key.revoked_ms;
  return out;
}

Status create(const KeyArgs& args, service::Keys keys) {
  const service::NewKey made = PD_TRY(keys.create(
      args.name, args.metrics ? service::KeyScope::metrics : service::KeyScope::sandboxes));
  if (args.json) {
    object out = json_of(made.key);
    out["secret"] = made.secret;
    print(model::pretty_json(out));
    return {};
  }
  print(made.secret + "\n");
  say(
      fmt::format("key {} ({}): the line above is its secret, shown this once; from now on the "
                  "server takes no request without a key",
                  made.key.id.str(), made.key.label));
  return {};
}

Status list(const KeyArgs& args, service::Keys keys) {
  const std::vector<ApiKey> all = PD_TRY(keys.list());
  if (args.json) {
    boost::json::array out;
    for (const ApiKey& key : all) out.emplace_back(json_of(key));
    print(model::pretty_json(out));
    return {};
  }
  if (all.empty()) {
    say("no API keys: `paddock serve` takes any, from this machine alone");
    return {};
  }
  std::vector<std::vector<std::string>> rows{{"ID", "LABEL", "FOR", "MADE", "STATE"}};
  for (const ApiKey& key : all) {
    const std::string state = key.revoked_ms == 0 ? "good" : "revoked " + ago(key.revoked_ms);
    rows.push_back({key.id.str(), key.label,
                    std::string(name_of(service::kKeyScopeNames, key.scope)), ago(key.created_ms),
                    state});
  }
  print(table(rows));
  return {};
}

Status revoke(const KeyArgs& args, service::Keys keys) {
  const ApiKey key = PD_TRY(keys.revoke(args.name));
  if (args.json) {
    print(model::pretty_json(json_of(key)));
  } else {
    say(fmt::format("revoked key {} ({})", key.id.str(), key.label));
  }
  return {};
}

// Before it is done: what cannot be put on record does not happen.
Status note(const KeyArgs& args, Context& context) {
  const char* event = args.verb == KeyArgs::Verb::create ? "key_create" : "key_revoke";
  object fields{{"key", service::audit_text(args.name)}, {"uid", context.caller().uid}};
  return service::append_audit((PD_TRY(context.home()) / "audit").str(), event, fields);
}

Status act(const KeyArgs& args, Context& context) {
  service::Keys keys(*PD_TRY(context.database()));
  if (args.verb != KeyArgs::Verb::list) PD_TRY(note(args, context));
  switch (args.verb) {
    case KeyArgs::Verb::create:
      return create(args, keys);
    case KeyArgs::Verb::list:
      return list(args, keys);
    case KeyArgs::Verb::revoke:
      return revoke(args, keys);
  }
  return {};
}

}  // namespace

int key(const KeyArgs& args, Context& context) {
  const Status done = act(args, context);
  return done.ok() ? 0 : fail(done.error());
}

}  // namespace paddock::cmd
