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
  KeyRule keys = KeyRule::when_made;
  uint64_t max_sandboxes = 512;
  uint64_t max_timeout_seconds = 86'400;
  uint64_t audit_file_bytes = 64u << 20;
  Quota quota;                                // of each key
  std::map<std::string, Quota> label_quotas;  // of keys with that label, in its place

  const Quota& quota_of(const std::string& label) const;
};

// One setting as it is in force, for people.
struct SettingRow {
  std::string key;
  std::string value;
  std::string origin;  // "shipped", "<file>:<line>", "--listen"
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

// Later files win, `listen` (from the command line, may be empty) over all. invalid_argument names
// file, line and the nearest known key.
Result<LoadedSettings> load_server_settings(const std::vector<ServerFile>& files,
                                            const std::string& listen);

}  // namespace paddock::service
