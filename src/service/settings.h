// server.toml: how the daemon serves. Pure; the caller reads the files.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.h"
#include "base/result.h"
#include "service/quota.h"

namespace paddock::service {

enum class KeyRule { when_made, required };
inline constexpr EnumNames<KeyRule, 2> kKeyRuleNames{
    {{KeyRule::when_made, "when-made"}, {KeyRule::required, "required"}}};

struct ServerSettings {
  std::string listen = "127.0.0.1:3100";
  std::string domain = "localhost";
  std::optional<bool> tls;  // nullopt: where there is a certificate
  std::string tls_cert;     // files of the operator's own; empty: of a local authority
  std::string tls_key;
  KeyRule keys = KeyRule::when_made;
  uint64_t max_sandboxes = 512;
  uint64_t max_timeout_seconds = 86'400;
  std::map<std::string, uint64_t> pool;  // warm sandboxes to keep ready, by template
  uint64_t audit_file_bytes = 64u << 20;
  uint64_t max_builds = 4;
  uint64_t build_seconds = 3600;
  uint64_t max_upload_bytes = 1u << 30;
  Quota quota;                                // of each key
  std::map<std::string, Quota> label_quotas;  // of keys with that label, in its place

  bool has_tls() const { return tls.value_or(!tls_cert.empty()); }
  const Quota& quota_of(const std::string& label) const;
};

// One setting as it is in force, for people.
struct SettingRow {
  std::string key;
  std::string value;
  std::string origin;  // "shipped", "<file>:<line>", "--listen", …
  std::string doc;
};

struct ServerFile {
  std::string path;
  std::string text;
};

struct LoadedSettings {
  ServerSettings settings;
  std::vector<SettingRow> rows;
};

// What the command line says, as far as it does; files by any path.
struct ServerFlags {
  std::string listen = {};
  std::optional<bool> tls = {};
  std::string tls_cert = {};
  std::string tls_key = {};
};

// Later files win, `flags` over all. invalid_argument names file, line and the nearest known key;
// or says that of a certificate and its key one is missing.
Result<LoadedSettings> load_server_settings(const std::vector<ServerFile>& files,
                                            const ServerFlags& flags);

}  // namespace paddock::service
