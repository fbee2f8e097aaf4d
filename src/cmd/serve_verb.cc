// serve: the daemon, from its listener to its end.
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <future>
#include <memory>
#include <utility>

#include "api/doorkeeper.h"
#include "api/e2b/network_json.h"
#include "api/server.h"
#include "api/telemetry.h"
#include "base/strings.h"
#include "cmd/console.h"
#include "cmd/serve_identity.h"
#include "cmd/serve_settings.h"
#include "cmd/served_policy.h"
#include "cmd/verbs.h"
#include "engine/live/installation_key.h"
#include "engine/live/sandboxes.h"
#include "engine/live/start_up.h"
#include "net/http/server.h"
#include "net/listener.h"
#include "service/audit_log.h"
#include "service/keys.h"
#include "service/settings.h"
#include "sys/fault_point.h"
#include "sys/signal_fd.h"

namespace paddock::cmd {
namespace {

// Whoever reaches further than this machine asks for a key, even if the table of keys were lost
// meanwhile.
Result<api::Doorkeeper::Rule> rule_for(const Endpoint& endpoint, service::KeyRule wanted,
                                       service::KeyRing& keys) {
  if (wanted == service::KeyRule::required) return api::Doorkeeper::Rule::required;
  if (endpoint.reach == Reach::this_machine) return api::Doorkeeper::Rule::when_made;
  if (PD_TRY(keys.has_keys())) return api::Doorkeeper::Rule::required;
  return Error(Code::permission_denied,
               fmt::format("--listen {}: without API keys the server is for this machine alone",
                           endpoint.address.with_port(endpoint.port)))
      .set_remedy("`paddock key create LABEL` makes a key; or listen on a loopback address");
}

// The lines of a shell that make clients find the server. A certificate of the operator's is for
// names, not for the address.
std::string for_clients(const std::string& url, uint16_t port,
                        const service::ServerSettings& settings) {
  if (!settings.has_tls() || settings.tls_cert.empty()) {
    return fmt::format("E2B_API_URL={0} E2B_SANDBOX_URL={0}", url);
  }
  return fmt::format("E2B_DOMAIN={}:{}", settings.domain, port);
}

struct Announcement {
  const Endpoint& endpoint;
  uint16_t port;
  const service::ServerSettings& settings;
  const model::HostPath& home;
};
void announce(const Announcement& of, api::Doorkeeper& door) {
  const bool tls = of.settings.has_tls();
  const std::string url = (tls ? "https://" : "http://") + of.endpoint.address.with_port(of.port);
  auto takes_any = door.takes_any();
  const bool any = takes_any.ok() && *takes_any;
  print(fmt::format("paddock serves {}, to {}\n  export {} E2B_API_KEY={}\n", url,
                    any ? "this machine alone; any API key is taken"
                        : "holders of an API key (`paddock key create`)",
                    for_clients(url, of.port, of.settings),
                    any ? "e2b_" + std::string(40, '0') : "…"));
  if (tls && of.settings.tls_cert.empty()) {
    print(
        fmt::format("  export NODE_EXTRA_CA_CERTS={}   # SSL_CERT_FILE for Python and Go; curl "
                    "--cacert; `paddock tls ca --pem` for other machines\n",
                    shell_words({authority_file(of.settings, of.home)})));
  }
  ::fflush(stdout);
}

void wait_for(const sys::SignalFd& signals) {
  struct pollfd waiting {
    signals.fd(), POLLIN, 0
  };
  while (::poll(&waiting, 1, -1) < 0 && errno == EINTR) {
  }
}

// Runs the body in a coroutine and waits for it.
void run_on(net::Loop& loop, const std::function<void(net::Task&)>& body) {
  std::promise<void> done;
  loop.spawn([&](net::Task& task) {
    body(task);
    done.set_value();
  });
  done.get_future().wait();
}

// What the log has to say about its last writer.
void say_recovered(const service::AuditLog& log) {
  if (log.torn_bytes() > 0) {
    say(fmt::format("the audit log ended in a torn line of {} bytes: cut off, and on record",
                    log.torn_bytes()));
  }
  if (log.missing() > 0) {
    say(fmt::format("{} of the audit log are missing at its end: `paddock audit verify`",
                    plural(log.missing(), "record")));
  }
}

Result<service::AuditLog> open_audit(const model::HostPath& home,
                                     const service::ServerSettings& settings) {
  service::AuditLog log = PD_TRY(service::AuditLog::open(
      (home / "audit").str(), {.segment_bytes = settings.audit_file_bytes}));
  say_recovered(log);
  return log;
}

// nullptr: plain HTTP.
std::shared_ptr<const net::http::Security> secure(net::ServerIdentity* identity,
                                                  const api::ServerParts& served) {
  if (identity == nullptr) return nullptr;
  auto security = std::make_shared<net::http::Security>(
      net::http::Security{*identity, api::make_plain_handler(served)});
  security->on_failed = [&telemetry = served.telemetry](const Error&) {
    telemetry.on_failed_handshake();
  };
  return security;
}

// For tests of what a kill leaves: where it happens is named by the environment.
std::string die_at;
void die_there(const char* point) {
  if (die_at == point) ::kill(::getpid(), SIGKILL);
}

Status serve_until_told(const ServeArgs& args, Context& context) {
  const service::ServerSettings settings = PD_TRY(read_server_settings(args, context)).settings;
  const Endpoint endpoint = PD_TRY(parse_endpoint(settings.listen));
  const auto& environment = context.caller().environment;
  if (const auto point = environment.find("PADDOCK_DIE_AT"); point != environment.end()) {
    die_at = point->second;
    sys::set_fault_hook(die_there);
  }
  // Before any thread: they inherit that these signals are nobody's but the descriptor's.
  sys::SignalFd signals = PD_TRY(sys::SignalFd::open({SIGINT, SIGTERM, SIGHUP}));
  engine::LivePolicy policy = PD_TRY(served_policy(args, context));
  engine::Parts parts = PD_TRY(context.parts(engine::kLiveUser));
  const model::HostPath home = PD_TRY(context.home());
  const std::string database = (home / "paddock.db").str();
  service::KeyRing keys(PD_TRY(store::Database::open(database)));
  api::Doorkeeper door(keys, PD_TRY(rule_for(endpoint, settings.keys, keys)));
  const api::e2b::SecretBook secrets((home / "client-secrets").str());
  const api::e2b::AccessTokens tokens(PD_TRY(engine::installation_key(home)));
  api::Telemetry telemetry(PD_TRY(open_audit(home, settings)),
                           PD_TRY(store::Database::open(database)));

  const std::unique_ptr<net::ServerIdentity> identity =
      PD_TRY(open_identity(settings, endpoint, home));

  // What runs on the loop refers to it: the loop ends first.
  std::unique_ptr<engine::Sandboxes> sandboxes;
  engine::Uploads uploads(home, {.max_bytes = settings.max_upload_bytes});
  std::unique_ptr<engine::TemplateBuilder> builder;
  net::Loop loop;
  engine::SandboxesOptions options;
  options.egress = policy.egress;
  options.caller_environment = context.caller().environment;
  options.caller_home = context.caller().home;
  options.max_sandboxes = settings.max_sandboxes;
  options.pool = {settings.pool.begin(), settings.pool.end()};
  options.observer = &telemetry;
  options.read_network = [&secrets](const model::Owner& owner,
                                    const engine::NetworkRequest& recorded) {
    return api::e2b::network_of_record(recorded, [&](const std::string& name) {
      return secrets.value_of({owner, "", model::Caller::Sees::own}, name);
    });
  };
  options.policy_of = [&args, &context](const model::HostPath& workspace) {
    return served_policy(args, context, workspace);
  };
  if (args.kill_on_exit) options.lifetime = isolation::Lifetime::bound;
  sandboxes = std::make_unique<engine::Sandboxes>(loop, std::move(parts),
                                                  std::move(policy.compiled), options);
  std::shared_ptr<net::Listener> listener =
      PD_TRY(net::Listener::open(loop, endpoint.address, endpoint.port));
  PD_TRY(sandboxes->open());
  PD_TRY(uploads.open());
  builder = std::make_unique<engine::TemplateBuilder>(
      loop, *sandboxes, uploads,
      engine::BuilderOptions{static_cast<size_t>(settings.max_builds), settings.build_seconds});
  // Nobody else listens there: the daemon's lock is ours by now.
  const std::string socket = (home / "run" / "paddock.sock").str();
  std::shared_ptr<net::Listener> keepers = PD_TRY(net::Listener::open_unix(loop, socket));
  // Nothing may fail from here on: what is taken over ends with `sandboxes`, but for end().
  Status opened;
  run_on(loop, [&](net::Task& task) {
    sandboxes->take_over(task);
    opened = builder->open(task);
  });
  if (!opened.ok()) say("builds of an earlier server: " + opened.error().describe());
  const api::ServerParts served{*sandboxes, tokens, door, telemetry, settings, secrets, *builder};
  run_on(loop, [&](net::Task&) {
    telemetry.record("server_started", {{"listen", endpoint.address.with_port(listener->port())},
                                        {"tls", settings.has_tls()},
                                        {"pid", ::getpid()},
                                        {"version", PADDOCK_VERSION}});
  });
  loop.spawn([&telemetry](net::Task& task) { telemetry.keep_synced(task); });
  if (identity) {
    loop.spawn([&](net::Task& task) { keep_renewed(task, *identity, telemetry); });
  }
  loop.spawn([listener, handler = api::make_handler(served),
              security = secure(identity.get(), served)](net::Task& task) {
    net::http::serve(task, listener, handler, {.security = security});
  });
  loop.spawn([keepers, handler = api::make_keeper_handler(served)](net::Task& task) {
    net::http::serve(task, keepers, handler, {});
  });
  announce({endpoint, listener->port(), settings, home}, door);
  wait_for(signals);
  say(args.kill_on_exit ? "ending every sandbox"
                        : "ending; sandboxes go on until their time is up");
  run_on(loop, [&](net::Task& task) {
    std::exchange(listener, nullptr)->close();
    ::unlink(socket.c_str());
    std::exchange(keepers, nullptr)->close();
    builder->end(task);
    sandboxes->end(task);
    telemetry.record("server_ended", {});
    (void)telemetry.sync(task).ok();
  });
  return {};
}

}  // namespace

int serve(const ServeArgs& args, Context& context) {
  const Status served =
      args.explain ? explain_server(args, context) : serve_until_told(args, context);
  return served.ok() ? 0 : fail(served.error());
}

}  // namespace paddock::cmd
