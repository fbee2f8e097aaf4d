// One thing that a sandbox tried and was refused, as data.
#pragma once

#include <cstdint>
#include <string>

#include "base/enum_names.h"

namespace paddock::model {

enum class DenialKind { syscall, network, name, limit, path };
inline constexpr EnumNames<DenialKind, 5> kDenialKindNames{{{DenialKind::syscall, "syscall"},
                                                            {DenialKind::network, "network"},
                                                            {DenialKind::name, "name"},
                                                            {DenialKind::limit, "limit"},
                                                            {DenialKind::path, "path"}}};

// Equal denials (all fields but count and time) are one record with a count.
struct Denial {
  DenialKind kind = DenialKind::syscall;
  std::string what;     // "ptrace", "tcp 203.0.113.7:443", "example.com", "pids", ".git/hooks/x"
  std::string rule;     // the setting or table row that refused: "seccomp:ptrace", "egress"
  std::string remedy;   // how to ask for it; may be empty
  int64_t pid = 0;      // inside the sandbox; 0 unknown
  std::string process;  // comm of that process; empty unknown. Bytes of the sandbox: print escaped
  uint64_t count = 1;
  int64_t first_ms = 0;  // wall clock, milliseconds since the epoch
};

}  // namespace paddock::model
