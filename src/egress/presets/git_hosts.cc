#include "egress/presets/git_hosts.h"

#include <fmt/core.h>

#include <set>

#include "base/strings.h"

namespace paddock::egress {

std::vector<model::EgressRule> git_host_rules(const HostTools& tools,
                                              const std::string& workspace) {
  std::vector<model::EgressRule> rules;
  // Neither hooks nor a monitor of the repository's run for these two.
  const auto remotes = tools.run({"git", "-C", workspace, "remote"});
  if (!remotes.ok()) return rules;
  std::set<std::string> seen;
  for (const std::string& line : split(*remotes, '\n')) {
    const std::string remote(trim(line));
    if (remote.empty() || remote.starts_with('-')) continue;
    // As `insteadOf` rewrites it.
    const auto told = tools.run({"git", "-C", workspace, "ls-remote", "--get-url", remote});
    const auto url = told.ok() ? parse_server_url(*told) : std::nullopt;
    if (!url || url->scheme == "http") continue;
    model::EgressRule rule = rule_for(*url, fmt::format("git:{}:{}", url->host, url->port));
    rule.origin = "preset git-hosts: remote " + remote;
    if (url->scheme == "https") rule.protocol = model::EgressProtocol::git;
    if (seen.insert(rule.name).second) rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace paddock::egress
