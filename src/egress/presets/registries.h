// Preset "package-registries": which servers this host's package tools use, as each tool reports
// its effective value. No server is known here by name.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "egress/credentials/credential_set.h"
#include "egress/presets/url.h"
#include "model/egress.h"

namespace paddock::egress {

// Runs a tool of the host and returns what it printed. not_found: it is not installed.
using ToolRunner = std::function<Result<std::string>(const std::vector<std::string>& argv)>;

struct HostTools {
  ToolRunner run;
  std::function<std::string(const std::string& name)> variable;  // of the caller; empty: not set
  std::function<std::string(const std::string& path)> read;      // a file; empty: none
  std::string home;
};

// One tool and what it uses.
struct ToolRegistries {
  std::string tool;
  std::vector<ServerUrl> servers;
  // Settings to have inside, none of them secret.
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<LoadedCredential> credentials;  // of its tokens: the gate puts them on
  std::string missing;                        // why there is no server; empty: there are
};

// npm, yarn, pip, go, gem, cargo and apt. Tools that are not installed are left out. They run at
// the same time; the caller starts them outside of any workspace, whose files are not the host's.
std::vector<ToolRegistries> survey_registries(const HostTools& tools);

// A rule for each server, and one for each of `more` ("HOST[:PORT]").
Result<std::vector<model::EgressRule>> registry_rules(const std::vector<ToolRegistries>& found,
                                                      const std::vector<std::string>& more);

}  // namespace paddock::egress
