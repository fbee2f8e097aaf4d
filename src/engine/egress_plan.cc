#include "engine/egress_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "egress/credentials/load.h"
#include "egress/presets/git_hosts.h"
#include "engine/ssh_trust.h"
#include "policy/egress_lists.h"
#include "policy/egress_text.h"
#include "sys/command.h"
#include "sys/files.h"
#include "sys/random.h"

namespace paddock::engine {
namespace {

using model::ControlState;
using model::EgressRule;

constexpr size_t kSandboxKey = 32;
constexpr size_t kMaxSettings = 1u << 20;  // of a tool's file

// In the caller's PATH. An entry that is not absolute would be looked up where we happen to stand.
Result<std::string> find_program(const std::map<std::string, std::string>& environment,
                                 const std::string& name) {
  const auto path = environment.find("PATH");
  for (const std::string& directory : split(path == environment.end() ? "" : path->second, ':')) {
    const std::string program = directory + "/" + name;
    if (directory.starts_with('/') && sys::exists(program)) return program;
  }
  return Error(Code::not_found, name + " is not installed");
}

bool has_preset(const model::Settings& settings, std::string_view name) {
  const auto& presets = settings.egress.presets;
  return std::find(presets.begin(), presets.end(), name) != presets.end();
}

EgressRule every_public_host(model::EgressAction action, std::string name) {
  EgressRule rule;
  rule.name = std::move(name);
  rule.action = action;
  rule.every_public_host = true;
  rule.ports = model::TextList{"*"};
  rule.origin = rule.name;
  return rule;
}

struct OfPresets {
  std::vector<EgressRule> rules;
  Variables settings;
  std::vector<egress::LoadedCredential> credentials;
};

Status add_registries(const EgressRequest& request, const egress::HostTools& tools,
                      OfPresets& out) {
  auto found = egress::survey_registries(tools);
  out.rules = PD_TRY(egress::registry_rules(found, request.settings.egress.registries));
  for (egress::ToolRegistries& tool : found) {
    out.settings.insert(out.settings.end(), tool.environment.begin(), tool.environment.end());
    for (egress::LoadedCredential& credential : tool.credentials)
      out.credentials.push_back(std::move(credential));
  }
  if (!out.rules.empty()) return {};
  return Error(Code::failed_precondition,
               "preset package-registries: no package tool of this machine names a registry")
      .set_remedy("list their hosts in egress.registries, or allow them by name");
}

Result<OfPresets> expand_presets(const EgressRequest& request) {
  OfPresets out;
  const egress::HostTools tools = host_tools(request.caller_environment, request.caller_home);
  if (has_preset(request.settings, "package-registries"))
    PD_TRY(add_registries(request, tools, out));
  if (has_preset(request.settings, "git-hosts") && !request.workspace.empty()) {
    for (EgressRule& rule : egress::git_host_rules(tools, request.workspace.str()))
      out.rules.push_back(std::move(rule));
  }
  if (has_preset(request.settings, "open"))
    out.rules.push_back(every_public_host(model::EgressAction::allow, "open"));
  if (request.learning == Learning::yes)
    out.rules.push_back(every_public_host(model::EgressAction::audit, "learn"));
  return out;
}

// Whether some host of it may be reached at all. Below a wildcard one name stands for all.
bool is_of_use(const egress::Policy& policy, const model::Credential& credential) {
  return std::any_of(
      credential.hosts.begin(), credential.hosts.end(), [&](const std::string& host) {
        const bool wild = host.starts_with("*.");
        const auto name = egress::HostName::parse(wild ? "any" + host.substr(1) : host);
        // What is no name is for CredentialSet to complain about.
        return !name.ok() || policy.resolve(*name).answer == egress::Answer::allow;
      });
}

egress::SecretSources secret_sources(const EgressRequest& request) {
  egress::SecretSources sources;
  sources.variable = [&request](const std::string& name) -> std::optional<std::string> {
    const auto found = request.caller_environment.find(name);
    return found == request.caller_environment.end() ? std::nullopt : std::optional(found->second);
  };
  for (const auto& [name, value] : request.caller_environment)
    sources.command_environment.push_back(name + "=" + value);
  sources.store_directory = (request.home / "secrets").str();
  return sources;
}

// A variable that policy hands over as it is would hold what the placeholder stands for.
Status check_placeholders(const std::vector<egress::LoadedCredential>& credentials,
                          const model::Settings& settings) {
  for (const egress::LoadedCredential& credential : credentials) {
    for (const std::string& name : {credential.source.env, credential.source.key_id_env}) {
      const bool passed = std::find(settings.pass_env.begin(), settings.pass_env.end(), name) !=
                          settings.pass_env.end();
      if (name.empty() || (!passed && !settings.env.contains(name))) continue;
      return Error(Code::failed_precondition,
                   fmt::format("{} is to hold a credential's placeholder, and {} sets it too",
                               printable(name), passed ? "env.pass" : "env.set"))
          .set_remedy("leave it out there: the gate puts the secret on");
    }
  }
  return {};
}

// Those that some host in reach is to get.
Result<std::vector<egress::LoadedCredential>> load_used(const EgressRequest& request,
                                                        const egress::Policy& policy) {
  std::vector<model::Credential> used;
  for (const model::Credential& credential : request.settings.egress.credentials) {
    if (is_of_use(policy, credential)) used.push_back(credential);
  }
  return egress::load_credentials(used, secret_sources(request));
}

Status add_credentials(const EgressSource& source, std::string_view key, EgressPlan& plan) {
  if (source.credentials.empty()) return {};
  for (const egress::LoadedCredential& credential : source.credentials) {
    plan.grants.push_back("credential " + credential.source.name + ": " +
                          policy::describe(credential.source));
  }
  plan.rules.credentials = PD_TRY(egress::CredentialSet::make(source.credentials, key));
  plan.placeholders = plan.rules.credentials->environment();
  return {};
}

bool looks_inside(const EgressRule& rule) {
  return rule.action != model::EgressAction::deny && rule.inspect != model::Inspection::never &&
         (rule.inspect == model::Inspection::always || !rule.http.empty() ||
          rule.protocol == model::EgressProtocol::git);
}

void describe_plan(const model::EgressPolicy& source, EgressPlan& plan) {
  size_t rules = 0;
  for (const EgressRule& rule : source.lists.front()) {
    if (rule.action == model::EgressAction::deny) continue;
    ++rules;
    plan.grants.push_back("egress: " + policy::describe(rule));
  }
  plan.control = {"egress", ControlState::enforced,
                  fmt::format("{} rule{} let something out, by name, through the gate", rules,
                              rules == 1 ? "" : "s")};
}

}  // namespace

egress::HostTools host_tools(const std::map<std::string, std::string>& environment,
                             const model::HostPath& home) {
  egress::HostTools tools;
  tools.home = home.str();
  tools.run = [&environment](const std::vector<std::string>& argv) -> Result<std::string> {
    sys::Command command{.argv = argv,
                         .environment = {},
                         .directory = "/",
                         .input = {},
                         .output_limit = kMaxSettings,
                         .input_file = "/dev/null"};
    for (const auto& [name, value] : environment) command.environment.push_back(name + "=" + value);
    command.argv.front() = PD_TRY(find_program(environment, argv.front()));
    sys::CommandResult result = PD_TRY(sys::run_command(command));
    if (result.exit_code == 0) return std::move(result.out);
    return Error(Code::failed_precondition,
                 fmt::format("{} ended with {}: {}", argv.front(), result.exit_code,
                             printable(trim(std::string_view(result.err).substr(0, 300)))));
  };
  tools.variable = [&environment](const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  };
  tools.read = [](const std::string& path) {
    auto text = sys::read_file(path, kMaxSettings);
    return text.ok() ? std::move(*text) : std::string();
  };
  return tools;
}

Variables trust_variables(const std::string& path) {
  constexpr std::array kNames{
      "SSL_CERT_FILE",     "CURL_CA_BUNDLE",      "REQUESTS_CA_BUNDLE",
      "PIP_CERT",          "NODE_EXTRA_CA_CERTS", "npm_config_cafile",
      "GIT_SSL_CAINFO",    "CARGO_HTTP_CAINFO",   "AWS_CA_BUNDLE",
      "NIX_SSL_CERT_FILE", "DENO_CERT",           "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE"};
  Variables variables;
  for (const char* name : kNames) variables.emplace_back(name, path);
  return variables;
}

Result<EgressSource> make_egress_source(const EgressRequest& request) {
  EgressSource source;
  const bool learns = request.learning == Learning::yes;
  if (request.settings.egress.allows_nothing() && !learns) return source;
  OfPresets presets = PD_TRY(expand_presets(request));
  source.policy = PD_TRY(policy::egress_lists(request.settings.egress, presets.rules));
  const auto compiled = PD_TRY(egress::Policy::compile(source.policy));
  if (compiled->empty()) return EgressSource();
  source.of_presets = std::move(presets.rules);
  source.settings = std::move(presets.settings);
  source.known_hosts = known_hosts_files(request.caller_home);
  source.credentials = PD_TRY(load_used(request, *compiled));
  for (egress::LoadedCredential& credential : presets.credentials)
    source.credentials.push_back(std::move(credential));
  PD_TRY(check_placeholders(source.credentials, request.settings));
  return source;
}

Result<EgressPlan> plan_from(const EgressSource& source, std::string_view key) {
  EgressPlan plan;
  plan.control = {"egress", ControlState::enforced, "nothing leaves"};
  if (source.policy.lists.empty()) return plan;
  plan.rules.policy = PD_TRY(egress::Policy::compile(source.policy));
  plan.rules.known_hosts = source.known_hosts;
  plan.ssh_hosts = opened_ssh_hosts(source.policy);
  plan.literals = plan.rules.policy->literal_blocks();
  plan.settings = source.settings;
  PD_TRY(add_credentials(source, key, plan));
  plan.opens_tls = plan.rules.credentials != nullptr;
  for (const auto& list : source.policy.lists)
    plan.opens_tls = plan.opens_tls || std::any_of(list.begin(), list.end(), looks_inside);
  describe_plan(source.policy, plan);
  plan.of_presets = source.of_presets;
  return plan;
}

std::string make_sandbox_key() {
  return sys::random_bytes(kSandboxKey);
}

Result<EgressPlan> make_egress_plan(const EgressRequest& request) {
  const EgressSource source = PD_TRY(make_egress_source(request));
  return plan_from(source, make_sandbox_key());
}

}  // namespace paddock::engine
