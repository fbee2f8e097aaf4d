#include "engine/live/code_interpreter.h"

#include <array>
#include <string>

#include "base/strings.h"
#include "sys/files.h"

namespace paddock::engine {
namespace {

constexpr const char* kInside = "/run/paddock/code_interpreter";
constexpr const char* kPython = "/usr/bin/python3";
// Where Debian's python3 finds its packages.
constexpr const char* kPackages = "/usr/lib/python3/dist-packages/";
constexpr std::array<const char*, 2> kNeeded{"ipykernel", "jupyter_client"};

}  // namespace

Status add_code_interpreter(const model::HostPath& share, RunPlan& plan) {
  const model::HostPath program = share / "code_interpreter";
  if (share.empty() || !sys::exists((program / "server.py").str())) {
    return Error(Code::unsupported, std::string("template ") + kCodeInterpreter +
                                        ": its program is not installed beside paddock")
        .set_remedy("install share/paddock from the same build");
  }
  const std::string& name = plan.decision.root_template;
  const std::string root = name == "host" ? "" : name;
  for (const char* package : kNeeded) {
    if (sys::exists(root + kPython) && sys::exists(root + kPackages + package)) continue;
    return Error(Code::unsupported, std::string("template ") + kCodeInterpreter +
                                        ": python3 with " + package + " is not installed" +
                                        (root.empty() ? "" : " in " + printable(root)))
        .set_remedy(
            "apt-get install python3-ipykernel python3-jupyter-client (and, for plots and tables, "
            "python3-matplotlib python3-pandas)");
  }
  plan.sandbox.files.binds.push_back(
      {model::GuestPath(kInside), program, model::Access::read_only});
  return {};
}

ProcessRequest code_interpreter_command() {
  ProcessRequest request;
  request.argv = {kPython, "-B", std::string(kInside) + "/server.py"};
  return request;
}

}  // namespace paddock::engine
