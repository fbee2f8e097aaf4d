// One thing that left a sandbox, or was kept from it, as the record has it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "model/denial.h"
#include "model/ids.h"

namespace paddock::model {

// A name that was asked for, a connection, one request on a connection that is looked into, a
// connection to a unix socket of the host, whose path is then `host`, or a change of the rules
// while the sandbox ran.
enum class EgressEventKind { name, connection, request, socket, rule };
inline constexpr EnumNames<EgressEventKind, 5> kEgressEventKindNames{
    {{EgressEventKind::name, "name"},
     {EgressEventKind::connection, "connection"},
     {EgressEventKind::request, "request"},
     {EgressEventKind::socket, "socket"},
     {EgressEventKind::rule, "rule"}}};

// `audited`: let through by an audit rule alone. `failed`: allowed, and the other side did not
// answer.
enum class EgressVerdict { allowed, audited, denied, failed };
inline constexpr EnumNames<EgressVerdict, 4> kEgressVerdictNames{
    {{EgressVerdict::allowed, "allowed"},
     {EgressVerdict::audited, "audited"},
     {EgressVerdict::denied, "denied"},
     {EgressVerdict::failed, "failed"}}};

struct EgressEvent {
  SandboxId sandbox;
  EgressEventKind kind = EgressEventKind::connection;
  EgressVerdict verdict = EgressVerdict::denied;
  std::string host;      // canonical name or address; of a name that is none, escaped
  uint16_t port = 0;     // 0 for names
  std::string protocol;  // "tls", "http", "h2", "ssh", "tcp", "unix"; empty: not seen
  std::string rule;      // "egress:NAME", "egress" when no rule allows it
  std::string reason;    // of a denial or failure
  std::string remedy;
  std::string address;  // that was dialled
  std::string method;   // of a request
  std::string path;     // without the query, which may hold what is nobody's business
  uint16_t status = 0;
  uint64_t request_bytes = 0;
  uint64_t response_bytes = 0;
  uint64_t duration_us = 0;
  std::vector<std::string> credentials;  // names of those that were put on
  int64_t pid = 0;                       // inside the sandbox; 0 unknown
  std::string process;                   // comm; bytes of the sandbox
  int64_t time_ms = 0;                   // when it began
};

// For the outcome of the command that caused it.
Denial to_denial(const EgressEvent& event);

}  // namespace paddock::model
