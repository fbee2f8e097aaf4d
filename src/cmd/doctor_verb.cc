// doctor: what this host gives, proved by doing it.
#include <fmt/core.h>

#include <boost/json.hpp>
#include <vector>

#include "cmd/console.h"
#include "cmd/verbs.h"
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

}  // namespace

int doctor(const DoctorArgs& args, Context&) {
  std::vector<Probe> probes = isolation::probe_levels();
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
