#include "service/settings.h"

#include <fmt/core.h>

#include <array>
#include <charconv>

#include "base/strings.h"
#include "policy/raw_value.h"

namespace paddock::service {
namespace {

using policy::RawMember;
using policy::RawType;
using policy::RawValue;

Error wrong(const RawValue& value, std::string_view wanted) {
  return Error(Code::invalid_argument,
               fmt::format("takes {}, not {}{}", wanted, policy::describe(value.type),
                           value.text.empty() ? "" : " '" + printable(value.text) + "'"));
}

// ---- values to fields

Result<std::string> text_of(const RawValue& value) {
  if (value.type != RawType::string || value.text.empty()) return wrong(value, "a text");
  return value.text;
}

Result<std::string> path_of(const RawValue& value) {
  std::string path = PD_TRY(text_of(value));
  if (!path.starts_with('/')) return wrong(value, "a path from / on");
  return path;
}

Result<bool> truth_of(const RawValue& value) {
  if (value.type != RawType::boolean) return wrong(value, "true or false");
  return value.text == "true";
}

Result<uint64_t> count_of(const RawValue& value) {
  const auto number = parse_u64(value.text);
  if (value.type != RawType::integer || !number) return wrong(value, "a number, 0 or more");
  return *number;
}

Result<uint64_t> bytes_of(const RawValue& value) {
  if (value.type == RawType::integer) return count_of(value);
  if (value.type != RawType::string) return wrong(value, "a size such as \"4G\"");
  return parse_bytes(value.text);
}

Result<uint64_t> seconds_of(const RawValue& value) {
  if (value.type != RawType::string) return wrong(value, "a time such as \"24h\"");
  const uint64_t seconds = PD_TRY(parse_seconds(value.text));
  if (seconds == 0 || seconds > 365ull * 86'400) return wrong(value, "1 second to 365 days");
  return seconds;
}

Result<double> cpus_of(const RawValue& value) {
  double number = 0;
  const char* end = value.text.data() + value.text.size();
  const auto parsed = std::from_chars(value.text.data(), end, number);
  const bool is_number = value.type == RawType::integer || value.type == RawType::real;
  if (!is_number || parsed.ec != std::errc() || parsed.ptr != end || !(number >= 0) ||
      number > 1e6) {
    return wrong(value, "a number of processors, 0 or more");
  }
  return number;
}

constexpr uint64_t kMaxPool = 256;

std::string limit_text(uint64_t value, const std::string& text) {
  return value == 0 ? "no limit" : text;
}

// ---- the settings

struct Setting {
  std::string_view key;
  std::string_view doc;
  Status (*put)(ServerSettings& into, const RawValue& value);
  std::string (*show)(const ServerSettings& from);
};

Status put_domain(ServerSettings& into, const RawValue& value) {
  into.domain = PD_TRY(text_of(value));
  if (into.domain.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") ==
          std::string::npos &&
      into.domain.front() != '.' && into.domain.back() != '.') {
    return {};
  }
  return wrong(value, "a DNS name in lower case");
}

Status put_keys(ServerSettings& into, const RawValue& value) {
  const auto rule = value_of(kKeyRuleNames, PD_TRY(text_of(value)));
  if (!rule) return wrong(value, list_names(kKeyRuleNames));
  into.keys = *rule;
  return {};
}

const std::array kSettings{
    Setting{"listen", "address and port; beyond loopback only where keys are asked for",
            [](ServerSettings& into, const RawValue& value) -> Status {
              into.listen = PD_TRY(text_of(value));
              return {};
            },
            [](const ServerSettings& from) { return from.listen; }},
    Setting{"domain", "ports of sandboxes are PORT-ID.<domain>", put_domain,
            [](const ServerSettings& from) { return from.domain; }},
    Setting{
        "tls", "https, with a certificate of a local authority or with tls_cert",
        [](ServerSettings& into, const RawValue& value) -> Status {
          into.tls = PD_TRY(truth_of(value));
          return {};
        },
        [](const ServerSettings& from) -> std::string { return from.has_tls() ? "on" : "off"; }},
    Setting{"tls_cert", "the operator's own certificate, its issuers behind it, in PEM",
            [](ServerSettings& into, const RawValue& value) -> Status {
              into.tls_cert = PD_TRY(path_of(value));
              return {};
            },
            [](const ServerSettings& from) { return from.tls_cert; }},
    Setting{"tls_key", "its key",
            [](ServerSettings& into, const RawValue& value) -> Status {
              into.tls_key = PD_TRY(path_of(value));
              return {};
            },
            [](const ServerSettings& from) { return from.tls_key; }},
    Setting{
        "keys", "required: no request without a good key, even before the first was made", put_keys,
        [](const ServerSettings& from) { return std::string(name_of(kKeyRuleNames, from.keys)); }},
    Setting{"max_sandboxes", "of all keys together",
            [](ServerSettings& into, const RawValue& value) -> Status {
              into.max_sandboxes = PD_TRY(count_of(value));
              if (into.max_sandboxes == 0) return wrong(value, "a number, 1 or more");
              return {};
            },
            [](const ServerSettings& from) { return std::to_string(from.max_sandboxes); }},
    Setting{
        "max_timeout", "the longest time that a client may ask for at once",
        [](ServerSettings& into, const RawValue& value) -> Status {
          into.max_timeout_seconds = PD_TRY(seconds_of(value));
          return {};
        },
        [](const ServerSettings& from) { return fmt::format("{}s", from.max_timeout_seconds); }},
    Setting{"audit_file_size", "a longer file of the audit log is followed by the next one",
            [](ServerSettings& into, const RawValue& value) -> Status {
              into.audit_file_bytes = PD_TRY(bytes_of(value));
              if (into.audit_file_bytes < 65'536) return wrong(value, "64k or more");
              return {};
            },
            [](const ServerSettings& from) { return format_bytes(from.audit_file_bytes); }},
    Setting{"max_builds", "builds of templates at once, of all keys; half of them of one key",
            [](ServerSettings& into, const RawValue& value) -> Status {
              into.max_builds = PD_TRY(count_of(value));
              return {};
            },
            [](const ServerSettings& from) { return std::to_string(from.max_builds); }},
    Setting{"build_timeout", "the longest that a build may take",
            [](ServerSettings& into, const RawValue& value) -> Status {
              into.build_seconds = PD_TRY(seconds_of(value));
              return {};
            },
            [](const ServerSettings& from) { return fmt::format("{}s", from.build_seconds); }},
    Setting{"max_upload", "of files for one step of a build; four times as much of one key",
            [](ServerSettings& into, const RawValue& value) -> Status {
              into.max_upload_bytes = PD_TRY(bytes_of(value));
              return {};
            },
            [](const ServerSettings& from) { return format_bytes(from.max_upload_bytes); }},
};

struct QuotaSetting {
  std::string_view key;
  std::string_view doc;
  Status (*put)(Quota& into, const RawValue& value);
  std::string (*show)(const Quota& from);
};
const std::array kQuotaSettings{
    QuotaSetting{"sandboxes", "at a time",
                 [](Quota& into, const RawValue& value) -> Status {
                   into.sandboxes = PD_TRY(count_of(value));
                   return {};
                 },
                 [](const Quota& from) {
                   return limit_text(from.sandboxes, std::to_string(from.sandboxes));
                 }},
    QuotaSetting{"memory", "sum of the limits of its sandboxes",
                 [](Quota& into, const RawValue& value) -> Status {
                   into.memory_bytes = PD_TRY(bytes_of(value));
                   return {};
                 },
                 [](const Quota& from) {
                   return limit_text(from.memory_bytes, format_bytes(from.memory_bytes));
                 }},
    QuotaSetting{"cpu", "sum of the limits of its sandboxes",
                 [](Quota& into, const RawValue& value) -> Status {
                   into.cpus = PD_TRY(cpus_of(value));
                   return {};
                 },
                 [](const Quota& from) {
                   return limit_text(from.cpus > 0, fmt::format("{:g}", from.cpus));
                 }},
    QuotaSetting{"disk", "sum of the limits of its sandboxes",
                 [](Quota& into, const RawValue& value) -> Status {
                   into.disk_bytes = PD_TRY(bytes_of(value));
                   return {};
                 },
                 [](const Quota& from) {
                   return limit_text(from.disk_bytes, format_bytes(from.disk_bytes));
                 }},
};

Error unknown_key(const std::string& key) {
  std::vector<std::string> known{"quota", "pool"};
  for (const Setting& setting : kSettings) known.emplace_back(setting.key);
  for (const QuotaSetting& setting : kQuotaSettings) {
    known.push_back("quota." + std::string(setting.key));
  }
  Error error(Code::invalid_argument, fmt::format("unknown key '{}'", printable(key)));
  if (auto near = nearest(key, known)) error.set_remedy(fmt::format("did you mean '{}'?", *near));
  return error;
}

// ---- one file

class File {
 public:
  File(std::string path, LoadedSettings& into, std::map<std::string, std::string>& origins)
      : path_(std::move(path)), into_(into), origins_(origins) {}

  Status take(const RawValue& root) {
    for (const RawMember& member : root.members) {
      if (member.name == "quota") {
        PD_TRY(take_quotas(member));
      } else if (member.name == "pool") {
        PD_TRY(take_pool(member));
      } else {
        PD_TRY(at(member, take_setting(member)));
      }
    }
    return {};
  }

 private:
  Status at(const RawMember& member, Status status) const {
    return std::move(status).with_context(
        fmt::format("{}:{}: {}", printable(path_), member.line, printable(member.name)));
  }
  void note(const std::string& key, const RawMember& member) {
    origins_[key] = fmt::format("{}:{}", path_, member.line);
  }

  Status take_setting(const RawMember& member) {
    for (const Setting& setting : kSettings) {
      if (setting.key != member.name) continue;
      note(member.name, member);
      return setting.put(into_.settings, member.value);
    }
    return unknown_key(member.name);
  }

  // [pool] has a number for each template.
  Status take_pool(const RawMember& pool) {
    if (pool.value.type != RawType::table) return at(pool, wrong(pool.value, "a table"));
    for (const RawMember& member : pool.value.members) {
      auto size = count_of(member.value);
      if (size.ok() && *size > kMaxPool) {
        size = wrong(member.value, fmt::format("a number up to {}", kMaxPool));
      }
      if (!size.ok()) return at(member, std::move(size).error());
      note("pool." + member.name, member);
      into_.settings.pool[member.name] = *size;
    }
    return {};
  }

  // [quota] has numbers, and tables for keys by label: [quota."ci"].
  Status take_quotas(const RawMember& quota) {
    if (quota.value.type != RawType::table) return at(quota, wrong(quota.value, "a table"));
    for (const RawMember& member : quota.value.members) {
      if (member.value.type != RawType::table) {
        PD_TRY(at(member, take_quota("quota.", member, into_.settings.quota)));
      }
    }
    for (const RawMember& member : quota.value.members) {
      if (member.value.type != RawType::table) continue;
      // What a label's table does not say is as for every key.
      Quota& of_label =
          into_.settings.label_quotas.try_emplace(member.name, into_.settings.quota).first->second;
      for (const RawMember& field : member.value.members) {
        PD_TRY(at(field, take_quota("quota." + member.name + ".", field, of_label)));
      }
    }
    return {};
  }

  Status take_quota(const std::string& prefix, const RawMember& member, Quota& into) {
    for (const QuotaSetting& setting : kQuotaSettings) {
      if (setting.key != member.name) continue;
      note(prefix + member.name, member);
      return setting.put(into, member.value);
    }
    return unknown_key("quota." + member.name);
  }

  std::string path_;
  LoadedSettings& into_;
  std::map<std::string, std::string>& origins_;
};

std::vector<SettingRow> rows_of(const ServerSettings& settings,
                                const std::map<std::string, std::string>& origins) {
  std::vector<SettingRow> rows;
  auto origin = [&](const std::string& key) {
    const auto found = origins.find(key);
    return found == origins.end() ? std::string("shipped") : found->second;
  };
  for (const Setting& setting : kSettings) {
    const std::string key(setting.key);
    rows.push_back({key, setting.show(settings), origin(key), std::string(setting.doc)});
  }
  auto add_quota = [&](const std::string& prefix, const Quota& quota) {
    for (const QuotaSetting& setting : kQuotaSettings) {
      const std::string key = prefix + std::string(setting.key);
      rows.push_back({key, setting.show(quota), origin(key), std::string(setting.doc)});
    }
  };
  for (const auto& [name, size] : settings.pool) {
    const std::string key = "pool." + name;
    rows.push_back({key, std::to_string(size), origin(key), "warm sandboxes kept ready"});
  }
  add_quota("quota.", settings.quota);
  for (const auto& [label, quota] : settings.label_quotas) add_quota("quota." + label + ".", quota);
  return rows;
}

void take_flags(const ServerFlags& flags, ServerSettings& into,
                std::map<std::string, std::string>& origins) {
  auto take = [&](const char* key, const std::string& flag, std::string& field, const char* name) {
    if (flag.empty()) return;
    field = flag;
    origins[key] = name;
  };
  take("listen", flags.listen, into.listen, "--listen");
  take("tls_cert", flags.tls_cert, into.tls_cert, "--tls-cert");
  take("tls_key", flags.tls_key, into.tls_key, "--tls-key");
  if (flags.tls) {
    into.tls = flags.tls;
    origins["tls"] = *flags.tls ? "--tls" : "--no-tls";
  } else if (!flags.tls_cert.empty()) {
    into.tls.reset();  // who names a certificate wants it, whatever a file says
    origins["tls"] = "--tls-cert";
  }
}

Status check_pair(const ServerSettings& settings) {
  if (settings.tls_cert.empty() == settings.tls_key.empty()) return {};
  const bool no_key = settings.tls_key.empty();
  return Error(Code::invalid_argument, no_key ? "a certificate without its key (tls_key)"
                                              : "a key without its certificate (tls_cert)")
      .set_remedy(
          "--tls-cert FILE --tls-key FILE, or tls_cert and tls_key in server.toml; neither "
          "for a certificate of a local authority");
}

}  // namespace

const Quota& ServerSettings::quota_of(const std::string& label) const {
  const auto found = label_quotas.find(label);
  return found == label_quotas.end() ? quota : found->second;
}

Result<LoadedSettings> load_server_settings(const std::vector<ServerFile>& files,
                                            const ServerFlags& flags) {
  LoadedSettings loaded;
  std::map<std::string, std::string> origins;
  for (const ServerFile& file : files) {
    const RawValue root = PD_TRY(policy::parse_toml(file.text, file.path));
    PD_TRY(File(file.path, loaded, origins).take(root));
  }
  take_flags(flags, loaded.settings, origins);
  PD_TRY(check_pair(loaded.settings));
  loaded.rows = rows_of(loaded.settings, origins);
  return loaded;
}

}  // namespace paddock::service
