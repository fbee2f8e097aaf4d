// The compiled policy of one sandbox: plain values that every layer below `engine` reads. The
// policy layer fills it from TOML tiers and flags (policy/settings_table.cc declares each one
// once); defaults here are the shipped ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "model/egress.h"
#include "model/level.h"

namespace paddock::model {

// Generous for a build, fatal for a bomb.
struct Limits {
  double cpus = 0;  // 0: all of the host's
  uint64_t memory_bytes = 4ull << 30;
  uint64_t pids = 1024;
  uint64_t disk_bytes = 10ull << 30;  // what the sandbox may write, workspace and scratch
  uint64_t shm_bytes = 1ull << 30;    // size of /dev/shm, within memory
  uint64_t timeout_seconds = 0;       // 0: none (`run`); a deadline is the caller's word
  uint64_t output_bytes = 0;          // of stdout and stderr together; 0: no limit
  uint64_t open_files = 65536;        // RLIMIT_NOFILE
};

enum class WorkspaceMode { overlay, direct, none };
inline constexpr EnumNames<WorkspaceMode, 3> kWorkspaceModeNames{
    {{WorkspaceMode::overlay, "overlay"},
     {WorkspaceMode::direct, "direct"},
     {WorkspaceMode::none, "none"}}};

enum class Access { read_only, read_write };

// A piece of the host given by name: --mount SRC:DST[:ro].
struct MountGrant {
  std::string source;  // host path
  std::string target;  // path inside
  Access access = Access::read_write;
};

// A unix socket of the host given by name: --socket SRC[:DST].
struct SocketGrant {
  std::string source;  // host path
  std::string target;  // path inside
};

// Path rules inside the workspace, as globs relative to its root; deny wins, then the more
// specific.
struct FileRules {
  std::vector<std::string> hide{".env",       ".env.*",           "*.pem",  "*.key",  "id_rsa",
                                "id_ed25519", "id_ecdsa",         "id_dsa", ".netrc", ".npmrc",
                                ".pypirc",    ".git-credentials", "*.p12",  "*.pfx",  "*.keystore"};
  std::vector<std::string> show{".env.example", ".env.sample", ".env.template"};  // exceptions
  std::vector<std::string> read;   // host paths given read-only
  std::vector<std::string> write;  // host paths given read-write
  std::vector<std::string> deny;   // paths inside that no command may write (Landlock) or read
};

struct ViewRules {
  uint64_t keep_seconds = 14ull * 86400;  // age past which `gc` may remove an unapplied view
  uint64_t keep_bytes = 20ull << 30;      // of all views together
  std::vector<std::string> host_exec;     // further globs held back at apply, beside the built-in
};

// What may leave. Presets and names are the short form of rules; whoever makes the sandbox turns
// them into rules.
struct EgressSettings {
  std::vector<std::string> presets;     // "package-registries", "git-hosts", "open"
  std::vector<std::string> allow;       // "HOST", "HOST:PORT"
  std::vector<std::string> registries;  // "HOST", "HOST:PORT", beside those the tools name
  std::vector<EgressRule> first;        // the project's refusals, then the administrator's rules
  std::vector<EgressRule> rules;        // the user's
  std::vector<EgressRule> narrowing;    // the project's grants, which must allow too; empty: none
  std::vector<Credential> credentials;  // of the administrator and the user

  bool allows_nothing() const {
    auto grants = [](const EgressRule& rule) { return rule.action != EgressAction::deny; };
    return presets.empty() && allow.empty() && std::none_of(first.begin(), first.end(), grants) &&
           std::none_of(rules.begin(), rules.end(), grants);
  }
};

struct Settings {
  std::string profile;  // the last bundle that a tier named; empty: none
  Trust trust = Trust::generated;
  std::optional<Level> level;  // asked for by name; else what `trust` requires
  std::map<Trust, Level> accept{{Trust::generated, Level::container}};  // accept.<trust>
  std::string accepted_by = "shipped policy";  // the tier that `accept` came from
  std::optional<std::string> rootfs;           // a directory as root instead of template `host`
  WorkspaceMode mode = WorkspaceMode::overlay;
  Limits limits;
  FileRules files;
  ViewRules views;
  std::vector<MountGrant> mounts;
  std::vector<SocketGrant> sockets;
  EgressSettings egress;
  std::map<std::string, std::string> env;  // set inside
  std::vector<std::string> pass_env;       // names copied from the caller
};

}  // namespace paddock::model
