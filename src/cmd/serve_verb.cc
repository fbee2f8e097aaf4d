// serve: the daemon, from its listener to its end.
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <future>
#include <memory>
#include <utility>

#include "api/doorkeeper.h"
#include "api/e2b/server.h"
#include "base/strings.h"
#include "cmd/console.h"
#include "cmd/verbs.h"
#include "engine/live/sandboxes.h"
#include "engine/live/start_up.h"
#include "model/ip_address.h"
#include "net/http/server.h"
#include "net/listener.h"
#include "service/keys.h"
#include "sys/random.h"
#include "sys/signal_fd.h"

namespace paddock::cmd {
namespace {

enum class Reach { this_machine, everybody };

struct Endpoint {
  model::IpAddress address;
  uint16_t port = 0;
  Reach reach = Reach::this_machine;
};

Error no_endpoint(const std::string& text, std::string_view why) {
  return Error(Code::invalid_argument, fmt::format("--listen {}: {}", printable(text), why))
      .set_remedy("for example --listen 127.0.0.1:3100");
}

Result<Endpoint> parse_endpoint(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return no_endpoint(text, "no port");
  std::string host = text.substr(0, colon);
  if (host == "localhost") host = "127.0.0.1";
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  auto address = model::IpAddress::parse(host);
  if (!address.ok()) return no_endpoint(text, "no address");
  const auto port = parse_u64(text.substr(colon + 1));
  if (!port || *port > 65535) return no_endpoint(text, "no port");
  const Reach reach =
      host == "::1" || host.starts_with("127.") ? Reach::this_machine : Reach::everybody;
  return Endpoint{std::move(*address), static_cast<uint16_t>(*port), reach};
}

// Whoever reaches further than this machine asks for a key, even if the table of keys were lost
// meanwhile.
Result<api::Doorkeeper::Rule> rule_for(const Endpoint& endpoint, service::KeyRing& keys) {
  if (endpoint.reach == Reach::this_machine) return api::Doorkeeper::Rule::when_made;
  if (PD_TRY(keys.has_keys())) return api::Doorkeeper::Rule::required;
  return Error(Code::permission_denied,
               fmt::format("--listen {}: without API keys the server is for this machine alone",
                           endpoint.address.with_port(endpoint.port)))
      .set_remedy("`paddock key create LABEL` makes a key; or listen on a loopback address");
}

void announce(const Endpoint& endpoint, uint16_t port, api::Doorkeeper& door) {
  const std::string url = "http://" + endpoint.address.with_port(port);
  auto takes_any = door.takes_any();
  if (takes_any.ok() && *takes_any) {
    print(
        fmt::format("paddock serves {0}, to this machine alone; any API key is taken\n"
                    "  export E2B_API_URL={0} E2B_SANDBOX_URL={0} E2B_API_KEY=e2b_{1}\n",
                    url, std::string(40, '0')));
  } else {
    print(
        fmt::format("paddock serves {0}, to holders of an API key (`paddock key create`)\n"
                    "  export E2B_API_URL={0} E2B_SANDBOX_URL={0} E2B_API_KEY=…\n",
                    url));
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

Status serve_until_told(const ServeArgs& args, Context& context) {
  const Endpoint endpoint = PD_TRY(parse_endpoint(args.listen));
  // Before any thread: they inherit that these signals are nobody's but the descriptor's.
  sys::SignalFd signals = PD_TRY(sys::SignalFd::open({SIGINT, SIGTERM, SIGHUP}));
  policy::Compiled policy = PD_TRY(context.settings(model::HostPath(), {}));
  engine::Parts parts = PD_TRY(context.parts(engine::kLiveUser));
  service::KeyRing keys(
      PD_TRY(store::Database::open((PD_TRY(context.home()) / "paddock.db").str())));
  api::Doorkeeper door(keys, PD_TRY(rule_for(endpoint, keys)));
  const api::e2b::AccessTokens tokens(sys::random_bytes(32));

  // What runs on the loop refers to it: the loop ends first.
  std::unique_ptr<engine::Sandboxes> sandboxes;
  net::Loop loop;
  sandboxes = std::make_unique<engine::Sandboxes>(loop, std::move(parts), std::move(policy),
                                                  engine::SandboxesOptions{});
  PD_TRY(sandboxes->open());
  std::shared_ptr<net::Listener> listener =
      PD_TRY(net::Listener::open(loop, endpoint.address, endpoint.port));
  loop.spawn([listener, handler = api::e2b::make_handler({*sandboxes, tokens, door})](
                 net::Task& task) { net::http::serve(task, listener, handler, {}); });
  announce(endpoint, listener->port(), door);
  wait_for(signals);
  say("ending every sandbox");
  run_on(loop, [&](net::Task& task) {
    std::exchange(listener, nullptr)->close();
    sandboxes->end(task);
  });
  return {};
}

}  // namespace

int serve(const ServeArgs& args, Context& context) {
  const Status served = serve_until_told(args, context);
  return served.ok() ? 0 : fail(served.error());
}

}  // namespace paddock::cmd
