// What all connections of a gate share.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "egress/gate/reporter.h"
#include "egress/gate/upstream.h"
#include "egress/pushes/push_store.h"
#include "egress/ssh/host_key.h"
#include "egress/tls/authority.h"
#include "net/tls_context.h"

namespace paddock::egress {

// Thread-safe. The TLS side is made when it is first needed: most sandboxes open none.
class Core {
 public:
  explicit Core(GateOptions options)
      : sink(std::move(options.on_event)),
        dialler(options.resolver != nullptr ? std::move(options.resolver)
                                            : net::make_system_resolver()),
        pushes(options.state_dir + "/pushes"),
        ssh_program(std::move(options.ssh_program)),
        state_dir_(std::move(options.state_dir)),
        trusted_pem_(std::move(options.trusted_pem)) {}

  const EventSink sink;
  Dialler dialler;
  const PushStore pushes;         // held for review
  const std::string ssh_program;  // empty: none

  Result<tls::Authority*> authority();
  Result<ssh::HostKey> ssh_host_key();
  // Settings of our own connections to hosts.
  Result<SSL_CTX*> client_context();

 private:
  const std::string state_dir_;
  const std::string trusted_pem_;
  std::mutex mutex_;
  std::unique_ptr<tls::Authority> authority_;
  net::SslContextPtr client_context_;
};

}  // namespace paddock::egress
