// One connection of a sandbox, from the first decision to the last byte.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "egress/gate/core.h"
#include "egress/gate/first_bytes.h"
#include "egress/gate/guard.h"
#include "egress/gate/sandbox.h"
#include "net/pump.h"
#include "net/socket_stream.h"
#include "net/splice.h"

namespace paddock::egress {

// Lives on one loop; abort() and recheck() are called on its thread.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  struct Parts {
    Core& core;
    net::Loop& loop;
    std::shared_ptr<Sandbox> sandbox;
    Target target;
    Asker asker;
    std::function<void(Ending, const std::string&)> on_end;
  };
  Connection(Parts parts, sys::SocketFd stream);

  net::Loop& loop() const { return parts_.loop; }

  void run(net::Task& task);
  // `refused`: the record says that it was denied. `unneeded`: nobody is there any more.
  enum class Abort { refused, unneeded };
  void abort(Abort how, std::string why);
  // After the sandbox's rules have changed: aborts when they do not allow it any more.
  void recheck();

 private:
  Status serve(net::Task& task);
  Status serve_seen(net::Task& task);
  Status serve_tls(net::Task& task, const Verdict& verdict);
  Status pass_through(net::Task& task, const Verdict& verdict);
  Status inspect_plain(net::Task& task);
  Status inspect_tls(net::Task& task);
  Status inspect_ssh(net::Task& task);

  // `hurried`: a program that may also be waiting for the host is not kept waiting itself.
  enum class Pace { patient, hurried };
  Status read_first_bytes(net::Task& task, LookFor look_for, Pace pace);
  Status watch_unclear(std::string_view bytes);
  Status connect(net::Task& task);
  net::Taps taps(Metering& metering);
  net::Meters meters(Metering& metering);
  bool passes_unseen() const;
  enum class Intent { to_pass, to_open };
  Status check_server_name(const Verdict& verdict, Intent intent) const;
  Inspected inspected(http::Scheme scheme, std::string_view protocol) const;
  Status refuse(net::Task& task, const Verdict& verdict);
  Status refuse(net::Task& task, const Error& error);
  Status tell_refusal(net::Task& task);
  void finish(const Status& status);
  Verdict decide() const { return rules_.policy->decide(parts_.target, seen_); }
  bool is_bound() const;
  bool is_still_allowed() const;
  bool is_named_host_allowed(const Policy& policy) const;

  Parts parts_;
  net::SocketStream client_;
  std::unique_ptr<net::SocketStream> upstream_;
  SandboxRules rules_;
  Seen seen_;
  FirstBytes first_;
  std::string prefix_;   // of the client, read and not passed on
  std::string unclear_;  // passed on before it was told what it is
  model::EgressEvent event_;
  bool prefix_passed_ = false;
  bool passes_ = false;  // not looked into from now on
  bool reports_ = true;  // as a whole; false where each request is reported
  std::string aborted_;  // why, if it was
  Abort abort_ = Abort::refused;
};

}  // namespace paddock::egress
