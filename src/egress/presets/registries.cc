#include "egress/presets/registries.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <set>
#include <thread>

#include "base/strings.h"
#include "model/egress_table.h"

namespace paddock::egress {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (const std::string& line : split(text, '\n')) {
    if (const std::string_view trimmed = trim(line); !trimmed.empty()) out.emplace_back(trimmed);
  }
  return out;
}

// The value of a credential that a URL or a file of the tool holds.
LoadedCredential credential_of(const ServerUrl& url, std::string name, std::string secret) {
  model::Credential source;
  source.name = std::move(name);
  source.hosts = {url.host};
  source.ports = model::TextList{std::to_string(url.port)};
  source.origin = "a setting of the tool";
  return {.source = std::move(source), .secret = Secret(std::move(secret)), .key_id = {}};
}

// Adds a server; what stands before its '@' becomes a credential.
const ServerUrl* add_server(ToolRegistries& tool, std::string_view text) {
  auto url = parse_server_url(text);
  if (!url) return nullptr;
  if (!url->user.empty() && url->scheme == "https") {
    const std::string name = fmt::format("{}-{}", tool.tool, tool.credentials.size() + 1);
    const bool pair = !url->password.empty();
    LoadedCredential loaded = credential_of(*url, name, pair ? url->password : url->user);
    loaded.source.kind = model::CredentialKind::basic;
    loaded.source.user = pair ? url->user : "";
    tool.credentials.push_back(std::move(loaded));
  }
  tool.servers.push_back(std::move(*url));
  return &tool.servers.back();
}

void add_setting(ToolRegistries& tool, const char* variable, const ServerUrl* url) {
  if (url != nullptr) tool.environment.emplace_back(variable, url->plain);
}

// --- npm
// -------------------------------------------------------------------------------------

// "//host/path/:_authToken=TEXT" in the user's file; npm itself does not tell it.
void add_npm_tokens(ToolRegistries& tool, const HostTools& tools) {
  std::string path = tools.variable("NPM_CONFIG_USERCONFIG");
  if (path.empty()) path = tools.home + "/.npmrc";
  for (const std::string& line : lines_of(tools.read(path))) {
    const size_t key = line.find(":_authToken");
    const size_t equals = line.find('=', key == std::string::npos ? 0 : key);
    if (!line.starts_with("//") || key == std::string::npos || equals == std::string::npos)
      continue;
    std::string token(trim(std::string_view(line).substr(equals + 1)));
    if (token.starts_with("${") && token.ends_with("}"))
      token = tools.variable(token.substr(2, token.size() - 3));
    const auto url = parse_server_url("https:" + line.substr(0, key));
    if (!url || token.empty()) continue;
    tool.credentials.push_back(
        credential_of(*url, fmt::format("npm-{}", tool.credentials.size() + 1), token));
  }
}

Status ask_npm(ToolRegistries& tool, const HostTools& tools) {
  const std::string text = PD_TRY(tools.run({"npm", "config", "list", "--json"}));
  boost::system::error_code error;
  const auto parsed = boost::json::parse(text, error);
  if (error || !parsed.is_object()) return Error(Code::data_corrupt, "npm printed no JSON");
  for (const auto& member : parsed.as_object()) {
    const std::string_view key(member.key().data(), member.key().size());
    const bool scoped = key.starts_with("@") && key.ends_with(":registry");
    if ((key != "registry" && !scoped) || !member.value().is_string()) continue;
    const auto& value = member.value().as_string();
    const ServerUrl* url = add_server(tool, std::string_view(value.data(), value.size()));
    if (key == "registry") add_setting(tool, "npm_config_registry", url);
  }
  add_npm_tokens(tool, tools);
  return {};
}

Status ask_yarn(ToolRegistries& tool, const HostTools& tools) {
  add_setting(tool, "YARN_REGISTRY",
              add_server(tool, PD_TRY(tools.run({"yarn", "config", "get", "registry"}))));
  return {};
}

// --- pip
// -------------------------------------------------------------------------------------

// Its own modules know the compiled-in index and where that keeps its files.
constexpr const char* kAskPip =
    "import json\n"
    "from pip._internal.models.index import PyPI\n"
    "from pip._internal.configuration import Configuration\n"
    "c = Configuration(isolated=False)\n"
    "c.load()\n"
    "d = {k: v for k, v in c.items() if isinstance(v, str)}\n"
    "for v in list(c.items()):\n"
    "    if isinstance(v[1], dict): d.update(v[1])\n"
    "def get(n):\n"
    "    for s in (':env:', 'install', 'download', 'global'):\n"
    "        if s + '.' + n in d: return d[s + '.' + n]\n"
    "    return ''\n"
    "i = get('index-url')\n"
    "print(i or PyPI.simple_url)\n"
    "if not i or i.rstrip('/') == PyPI.simple_url.rstrip('/'):\n"
    "    print('https://' + PyPI.file_storage_domain + '/')\n"
    "for n in ('extra-index-url', 'find-links'):\n"
    "    for u in get(n).split(): print('more', u)\n"
    "print('trusted', get('trusted-host'))\n";

Status ask_pip(ToolRegistries& tool, const HostTools& tools) {
  const std::string text = PD_TRY(tools.run({"python3", "-c", kAskPip}));
  std::vector<std::string> more;
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with("trusted")) {
      const std::string hosts(trim(std::string_view(line).substr(7)));
      if (!hosts.empty()) tool.environment.emplace_back("PIP_TRUSTED_HOST", hosts);
      continue;
    }
    const bool extra = line.starts_with("more ");
    const bool first = tool.servers.empty();
    const ServerUrl* url = add_server(tool, extra ? line.substr(5) : line);
    if (first && !extra) add_setting(tool, "PIP_INDEX_URL", url);
    if (extra && url != nullptr) more.push_back(url->plain);
  }
  if (!more.empty()) tool.environment.emplace_back("PIP_EXTRA_INDEX_URL", join(more, " "));
  return {};
}

// --- others
// ----------------------------------------------------------------------------------

Status ask_go(ToolRegistries& tool, const HostTools& tools) {
  const auto lines = split(PD_TRY(tools.run({"go", "env", "GOPROXY", "GOSUMDB"})), '\n');
  std::string proxies = lines.empty() ? "" : lines[0];
  std::string plain;
  for (size_t at = 0; at < proxies.size();) {
    const size_t end = std::min(proxies.find_first_of(",|", at), proxies.size());
    const std::string part = proxies.substr(at, end - at);
    const ServerUrl* url = add_server(tool, part);
    plain += (url != nullptr ? url->plain : part) + proxies.substr(end, 1);
    at = end + 1;
  }
  if (!plain.empty()) tool.environment.emplace_back("GOPROXY", plain);
  const std::string sums = lines.size() > 1 ? std::string(trim(lines[1])) : "";
  if (sums.empty() || sums == "off") return {};
  // "NAME[+KEY] [URL]": the name is its host where no URL is given.
  const size_t space = sums.find(' ');
  const std::string name = sums.substr(0, sums.find_first_of("+ "));
  add_server(tool, space == std::string::npos ? "https://" + name : sums.substr(space + 1));
  tool.environment.emplace_back("GOSUMDB", sums);
  return {};
}

Status ask_gem(ToolRegistries& tool, const HostTools& tools) {
  for (const std::string& line : lines_of(PD_TRY(tools.run({"gem", "sources", "--list"})))) {
    add_server(tool, line);
  }
  return {};
}

// cargo has no command that tells its compiled-in index.
Status ask_cargo(ToolRegistries& tool, const HostTools& tools) {
  PD_TRY(tools.run({"cargo", "--version"}));
  std::string home = tools.variable("CARGO_HOME");
  if (home.empty()) home = tools.home + "/.cargo";
  for (const char* file : {"/config.toml", "/config"}) {
    for (const std::string& line : lines_of(tools.read(home + file))) {
      const size_t equals = line.find('=');
      const std::string key(trim(line.substr(0, equals)));
      if (equals == std::string::npos || (key != "registry" && key != "index")) continue;
      std::string value(trim(std::string_view(line).substr(equals + 1)));
      value.erase(std::remove(value.begin(), value.end(), '"'), value.end());
      add_server(tool, value);
    }
  }
  if (tool.servers.empty())
    tool.missing = "cargo does not tell its compiled-in index: name its hosts in egress.registries";
  return {};
}

// What it would fetch: it tells that from its settings alone, while `indextargets` reads all that
// it has fetched.
Status ask_apt(ToolRegistries& tool, const HostTools& tools) {
  std::set<std::string> seen;
  for (const std::string& line :
       lines_of(PD_TRY(tools.run({"apt-get", "update", "--print-uris"})))) {
    if (!line.starts_with('\'')) continue;  // 'URI' FILE SIZE
    const std::string uri = line.substr(1, line.find('\'', 1) - 1);
    const std::string site = uri.substr(0, uri.find("/dists/"));
    if (seen.insert(site).second) add_server(tool, site);
  }
  return {};
}

struct Asked {
  const char* tool;
  Status (*ask)(ToolRegistries& tool, const HostTools& tools);
};
constexpr std::array kTools{
    Asked{"npm", ask_npm}, Asked{"yarn", ask_yarn},   Asked{"pip", ask_pip}, Asked{"go", ask_go},
    Asked{"gem", ask_gem}, Asked{"cargo", ask_cargo}, Asked{"apt", ask_apt}};

void ask(const Asked& asked, const HostTools& tools, ToolRegistries& into) {
  into.tool = asked.tool;
  const Status status = asked.ask(into, tools);
  if (!status.ok()) {
    const Error error = Status(status).error();
    into.missing = error.code() == Code::not_found ? "not installed" : error.describe();
  } else if (into.servers.empty() && into.missing.empty()) {
    into.missing = "it names no server";
  }
}

}  // namespace

std::vector<ToolRegistries> survey_registries(const HostTools& tools) {
  std::vector<ToolRegistries> found(kTools.size());
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < kTools.size(); ++i) {
      threads.emplace_back([&, i] { ask(kTools[i], tools, found[i]); });
    }
  }
  std::erase_if(found, [](const ToolRegistries& t) { return t.missing == "not installed"; });
  return found;
}

Result<std::vector<model::EgressRule>> registry_rules(const std::vector<ToolRegistries>& found,
                                                      const std::vector<std::string>& more) {
  std::vector<model::EgressRule> rules;
  std::set<std::pair<std::string, uint16_t>> seen;
  for (const ToolRegistries& tool : found) {
    for (const ServerUrl& url : tool.servers) {
      if (!seen.emplace(url.host, url.port).second) continue;
      rules.push_back(rule_for(url, fmt::format("{}:{}:{}", tool.tool, url.host, url.port)));
      rules.back().origin = "preset package-registries, as " + tool.tool + " reports";
    }
  }
  for (const std::string& host : more) {
    rules.push_back(PD_TRY_CTX("egress.registries", model::read_allow_flag(host)));
    rules.back().name = "registry:" + host;
    rules.back().origin = "egress.registries";
  }
  return rules;
}

}  // namespace paddock::egress
