#include "agent/sudo/environment.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string_view>

#include "base/strings.h"

namespace paddock::agent::sudo {
namespace {

constexpr std::string_view kSecurePath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// Ends in "*": every name that begins so.
constexpr std::array<std::string_view, 29> kKept{"TERM",
                                                 "COLORTERM",
                                                 "COLORS",
                                                 "DISPLAY",
                                                 "XAUTHORITY",
                                                 "LANG",
                                                 "LANGUAGE",
                                                 "LC_*",
                                                 "LINES",
                                                 "COLUMNS",
                                                 "LS_COLORS",
                                                 "PS1",
                                                 "PS2",
                                                 "TZ",
                                                 "http_proxy",
                                                 "https_proxy",
                                                 "all_proxy",
                                                 "no_proxy",
                                                 "HTTP_PROXY",
                                                 "HTTPS_PROXY",
                                                 "ALL_PROXY",
                                                 "NO_PROXY",
                                                 "SSL_CERT_FILE",
                                                 "SSL_CERT_DIR",
                                                 "CURL_CA_BUNDLE",
                                                 "GIT_SSL_CAINFO",
                                                 "REQUESTS_CA_BUNDLE",
                                                 "NODE_EXTRA_CA_CERTS",
                                                 "PIP_CERT"};

using Variables = std::map<std::string, std::string>;

Variables variables_of(const std::vector<std::string>& environment) {
  Variables out;
  for (const std::string& variable : environment) {
    const size_t equals = variable.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    out[variable.substr(0, equals)] = variable.substr(equals + 1);
  }
  return out;
}

bool is_kept(const std::string& name, const Options& options) {
  if (options.environment == Options::Environment::preserve) return true;
  if (std::ranges::find(options.preserved, name) != options.preserved.end()) return true;
  return std::ranges::any_of(kKept, [&](std::string_view kept) {
    return kept.ends_with('*') ? name.starts_with(kept.substr(0, kept.size() - 1)) : name == kept;
  });
}

std::string escaped(const std::string& word) {
  std::string out;
  for (const char c : word) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
                          c == '-' || c == '$' || (static_cast<unsigned char>(c) & 0x80) != 0;
    if (!is_plain) out += '\\';
    out += c;
  }
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  std::vector<std::string> safe;
  for (const std::string& word : words) safe.push_back(escaped(word));
  return join(safe, " ");
}

std::string shell_of(const Options& options, const Caller& caller, const User& target) {
  if (options.shell == Options::Shell::login) return target.shell;
  const Variables variables = variables_of(caller.environment);
  const auto own = variables.find("SHELL");
  return own == variables.end() || own->second.empty() ? target.shell : own->second;
}

}  // namespace

std::vector<std::string> words_of(const Options& options, const Caller& caller,
                                  const User& target) {
  if (options.shell == Options::Shell::none) return options.command;
  std::vector<std::string> words{shell_of(options, caller, target)};
  if (options.shell == Options::Shell::login) words.push_back("-l");
  if (!options.command.empty()) {
    words.push_back("-c");
    words.push_back(joined(options.command));
  }
  return words;
}

std::vector<std::string> environment_of(const Options& options, const Caller& caller,
                                        const User& target) {
  Variables out;
  for (auto& [name, value] : variables_of(caller.environment)) {
    if (is_kept(name, options)) out[name] = value;
  }
  const bool keeps_home = options.environment == Options::Environment::preserve &&
                          options.home != Options::Home::target && out.contains("HOME");
  if (!keeps_home) out["HOME"] = target.home;
  out["LOGNAME"] = target.name;
  out["USER"] = target.name;
  out["SHELL"] = target.shell;
  out["PATH"] = kSecurePath;
  out["SUDO_USER"] = caller.user.name;
  out["SUDO_UID"] = std::to_string(caller.user.uid);
  out["SUDO_GID"] = std::to_string(caller.user.gid);
  out["SUDO_COMMAND"] = join(words_of(options, caller, target), " ");
  for (const auto& [name, value] : variables_of(options.variables)) out[name] = value;
  std::vector<std::string> environment;
  for (const auto& [name, value] : out) environment.push_back(name + "=" + value);
  return environment;
}

}  // namespace paddock::agent::sudo
