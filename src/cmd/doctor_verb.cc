// doctor: what this host gives, proved by doing it.
#include <fmt/core.h>

#include <boost/json.hpp>
#include <vector>

#include "base/strings.h"
#include "cmd/console.h"
#include "cmd/verbs.h"
#include "egress/presets/registries.h"
#include "engine/egress_plan.h"
#include "isolation/levels.h"
#include "model/json.h"

namespace paddock::cmd {
namespace {

using isolation::Probe;
using model::ControlState;

boost::json::object to_json(const Probe& probe) {
  boost::json::object object;
  object["name"] = probe.name;
  object["state"] = name_of(model::kControlStateNames, probe.state);
  object["proof"] = probe.proof;
  object["remedy"] = probe.remedy;
  return object;
}

void print_probe(const Probe& probe) {
  Style style = probe.state == ControlState::enforced       ? Style::green
                : probe.state == ControlState::approximated ? Style::yellow
                                                            : Style::red;
  print(fmt::format(
      "{} {}\n    {}\n",
      styled(1, style, fmt::format("{:12}", name_of(model::kControlStateNames, probe.state))),
      styled(1, Style::bold, probe.name), probe.proof));
  if (!probe.remedy.empty()) print(fmt::format("    try: {}\n", probe.remedy));
}

// What preset package-registries would let out.
std::vector<Probe> probe_registries(Context& context) {
  std::vector<Probe> probes;
  const Caller& caller = context.caller();
  for (const auto& tool :
       egress::survey_registries(engine::host_tools(caller.environment, caller.home))) {
    Probe probe{.name = "egress.registries." + tool.tool,
                .state = ControlState::enforced,
                .proof = {},
                .remedy = {}};
    std::vector<std::string> servers;
    for (const auto& url : tool.servers)
      servers.push_back(fmt::format("{}:{}", url.host, url.port));
    probe.proof = "it uses " + join(servers, ", ");
    if (!tool.missing.empty()) {
      probe.state = ControlState::refused;
      probe.proof = printable(tool.missing);
      probe.remedy = "name its hosts in egress.registries";
    }
    probes.push_back(std::move(probe));
  }
  return probes;
}

}  // namespace

int doctor(const DoctorArgs& args, Context& context) {
  std::vector<Probe> probes = isolation::probe_levels();
  for (Probe& probe : probe_registries(context)) probes.push_back(std::move(probe));
  if (args.json) {
    boost::json::array list;
    for (const Probe& probe : probes) list.push_back(to_json(probe));
    print(model::pretty_json(list));
    return 0;
  }
  for (const Probe& probe : probes) print_probe(probe);
  return 0;
}

}  // namespace paddock::cmd
